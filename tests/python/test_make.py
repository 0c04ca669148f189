"""The Makefile's answers: what it can do, and what to do about a bad request."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = sorted(ROOT.glob("chapters/[0-9][0-9]_*/*.cu"))
NAMES = {f.parent.name[:2] + f.stem.removeprefix(f.name.split(".")[0]) for f in FILES}


def make(*arguments):
    """(exit status, all that it prints), on its own even below another make."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "BACKEND")}
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class MakeTest(unittest.TestCase):
    def assert_refuses(self, arguments, *words):
        status, output = make(*arguments)
        self.assertNotEqual(status, 0, output)
        for word in words:
            self.assertIn(word, output)

    def test_alone_prints_what_it_can_do(self):
        status, output = make()
        self.assertEqual(status, 0)
        for word in ("make run SRC=", "make doctor", *(f"    chapter{name}" for name in NAMES)):
            self.assertIn(word, output)

    def test_no_such_chapter(self):
        for goal in ("chapter7", "chapter99", "chapter03.none", "diff7", "ptx99", "bench3"):
            self.assert_refuses([goal], f"There is no {goal}.", *(f"    chapter{n}" for n in NAMES))

    def test_no_such_backend(self):
        self.assert_refuses(["BACKEND=tpu", "chapter01"], "BACKEND=tpu is neither gpu nor cpu")

    def test_no_file(self):
        for goal in ("run", "program"):
            self.assert_refuses([goal], f"make {goal} SRC=")
            self.assert_refuses([goal, "SRC=none.cu"], "there is no such .cu file")
        self.assert_refuses(["run", "SRC=README.md"], "there is no such .cu file")

    def test_no_such_contract(self):
        with tempfile.NamedTemporaryFile(prefix="nonsense.", suffix=".cu") as file:
            self.assert_refuses(["run", f"SRC={file.name}"], "'nonsense'", "The contracts are: ", "relu",
                                "make program")

    def test_each_file_has_its_targets(self):
        self.assertTrue(FILES)
        goals = (f"{goal}{name}" for goal in ("chapter", "ptx") for name in sorted(NAMES))
        status, output = make("-n", "BACKEND=cpu", *goals)
        self.assertEqual(status, 0, output)

    def test_diff(self):
        self.assertIn("is the first relu.cu", make("diff01")[1])
        status, output = make("diff02")
        self.assertEqual(status, 0)
        self.assertIn("+// Chapter 02", output)
        self.assertIn("-// Chapter 01", output)


if __name__ == "__main__":
    unittest.main()
