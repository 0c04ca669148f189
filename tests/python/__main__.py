"""Run the Python tests of this folder: python3 tests/python"""

import pathlib
import sys
import unittest

FOLDER = str(pathlib.Path(__file__).resolve().parent)


def main():
    sys.path.insert(0, FOLDER)
    suite = unittest.defaultTestLoader.discover(FOLDER)
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    failed = len({test.id() for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
