"""The runner counts what suites say, and takes no silence for success."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
loader = importlib.machinery.SourceFileLoader("suite_runner", str(ROOT / "tests" / "run"))
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
sys.modules[loader.name] = runner
loader.exec_module(runner)


def run(judge, output, status=0):
    """What becomes of a suite that prints this and ends so."""
    code = f"import sys; print({output!r}); sys.exit({status})"
    return str(runner.run(runner.Suite("made up", (sys.executable, "-c", code), judge)))


class RunnerTest(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(run(runner.judge_counts, "3 passed, 0 failed"), "3 passed, 0 failed")
        self.assertEqual(run(runner.judge_counts, "9 passed, 0 failed\n3 passed, 1 failed, 2 skipped", 1),
                         "3 passed, 1 failed, 2 skipped")

    def test_a_bad_status_is_a_failure(self):
        self.assertEqual(run(runner.judge_counts, "3 passed, 0 failed", 1), "3 passed, 1 failed")

    def test_no_test_is_a_failure(self):
        for judge in (runner.judge_counts, runner.judge_doctest, runner.judge_unittest):
            self.assertEqual(run(judge, "all is well"), "0 passed, 1 failed")
        self.assertEqual(run(runner.judge_counts, "0 passed, 0 failed, 4 skipped"),
                         "0 passed, 1 failed, 4 skipped")

    def test_doctest(self):
        line = "[doctest] test cases:  7 |  {} passed | {} failed | 2 skipped"
        self.assertEqual(run(runner.judge_doctest, line.format(7, 0)), "7 passed, 0 failed, 2 skipped")
        self.assertEqual(run(runner.judge_doctest, line.format(5, 2), 1), "5 passed, 2 failed, 2 skipped")

    def test_unittest(self):
        told = "Ran 9 tests in 0.1s\n\n{}"
        self.assertEqual(run(runner.judge_unittest, told.format("OK")), "9 passed, 0 failed")
        self.assertEqual(run(runner.judge_unittest, told.format("FAILED (failures=2, errors=1, skipped=1)"), 1),
                         "5 passed, 3 failed, 1 skipped")

    def test_a_program_prints_what_is_expected(self):
        judge = runner.judge_program(ROOT / "LICENSE")
        self.assertEqual(run(judge, (ROOT / "LICENSE").read_text()[:-1]), "1 passed, 0 failed")
        self.assertEqual(run(judge, "something else"), "0 passed, 1 failed")
        self.assertEqual(run(runner.judge_program(ROOT / "none"), "anything"), "1 passed, 0 failed")
        self.assertEqual(run(runner.judge_program(ROOT / "none"), "anything", 1), "0 passed, 1 failed")

    def test_failing_lines_come_first(self):
        lines = [f"ok    {k}" for k in range(500)]
        self.assertEqual(runner.excerpt("\n".join(lines))[-1], "ok    499")
        lines[100], lines[200] = "FAIL  one thing", "x.cpp:7: ERROR: CHECK( a ) is NOT correct!"
        shown = runner.excerpt("\n".join(lines))
        self.assertEqual(shown[:2], [lines[100], lines[200]])
        self.assertEqual(shown[3:5], [lines[100], "ok    101"])
        self.assertLessEqual(len(shown), runner.SHOWN_LINES + 1)

    def test_what_cannot_be_built_has_failed(self):
        suite = runner.Suite("made up", ("true",), runner.judge_counts, "build/no-such-target")
        result = runner.run(suite)
        self.assertEqual(str(result), "0 passed, 1 failed")
        self.assertIn("does not compile or link", result.output)


if __name__ == "__main__":
    unittest.main()
