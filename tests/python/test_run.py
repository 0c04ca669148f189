"""The runner counts what suites say, and takes no silence for success."""

import collections
import contextlib
import io
import re
import sys

import architectures
import conftest as runner
import pytest
from conftest import ROOT, Suite


def run(judge, output, status=0):
    """What becomes of a suite that prints this and ends so."""
    code = f"import sys; print({output!r}); sys.exit({status})"
    return str(runner.run(Suite([sys.executable, "-c", code], judge)))


def parts(file):
    return [word for alone, words in runner.ALONE if alone == file for word in words]


def test_turns_run_all_that_is_left_and_every_second_the_classroom(monkeypatch):
    left = [*dict.fromkeys(place for pattern in runner.LEFT for place in ROOT.glob(pattern))]
    classroom = {path for path in left if path.parent.name == "classroom"}
    turns = collections.Counter()
    for number in range(2 * runner.TURNS):
        monkeypatch.setattr(runner, "TURN", runner.turn_of(number))
        chosen = {path for path in left if runner.has_its_turn(path, left)}
        of_executor = {path for path in ROOT.glob("tests/simt/*.cu") if path not in left}
        assert all(runner.has_its_turn(path, left) != (number % 2 == 0) for path in of_executor)
        if number % 2 == 0:
            assert chosen == classroom
        else:
            turns.update(chosen)
    assert turns.keys() == set(left) - classroom
    assert {path for path, count in turns.items() if count > 1} == {
        ROOT / runner.ARCHITECTURES, ROOT / runner.WRONG_ENGINES}
    assert sorted(parts(runner.ARCHITECTURES)) == sorted({place.split("/")[0] for place in architectures.PLACES})
    assert sorted(parts(runner.WRONG_ENGINES)) == runner.WRONG


class TestRunner:
    def test_counts(self):
        assert run(runner.judge_counts, "3 passed, 0 failed") == "3 passed, 0 failed"
        last = "3 passed, 1 failed, 2 skipped"
        assert run(runner.judge_counts, f"9 passed, 0 failed\n{last}", 1) == last

    def test_a_bad_status_is_a_failure(self):
        assert run(runner.judge_counts, "3 passed, 0 failed", 1) == "3 passed, 1 failed"

    def test_no_test_is_a_failure(self):
        for judge in (runner.judge_counts, runner.judge_doctest):
            assert run(judge, "all is well") == "0 passed, 1 failed"
        assert run(runner.judge_counts, "0 passed, 0 failed, 4 skipped") == "0 passed, 1 failed, 4 skipped"

    def test_doctest(self):
        line = "[doctest] test cases:  7 |  {} passed | {} failed | 2 skipped"
        assert run(runner.judge_doctest, line.format(7, 0)) == "7 passed, 0 failed, 2 skipped"
        assert run(runner.judge_doctest, line.format(5, 2), 1) == "5 passed, 2 failed, 2 skipped"

    def test_a_program_prints_what_is_expected(self):
        judge = runner.judge_program(ROOT / "LICENSE")
        assert run(judge, (ROOT / "LICENSE").read_text()[:-1]) == "1 passed, 0 failed"
        assert run(judge, "something else") == "0 passed, 1 failed"
        assert run(runner.judge_program(ROOT / "none"), "anything") == "1 passed, 0 failed"
        assert run(runner.judge_program(ROOT / "none"), "anything", 1) == "0 passed, 1 failed"

    def test_what_hangs_is_ended(self, monkeypatch):
        monkeypatch.setattr(runner, "SECONDS", 0.2)
        result = runner.run(Suite(["sleep", "60"], runner.judge_counts))
        assert str(result) == "0 passed, 1 failed"
        assert "It hung for 0.2 s." in result.output

    def test_failing_lines_come_first(self):
        lines = [f"ok    {k}" for k in range(500)]
        assert runner.excerpt("\n".join(lines))[-1] == "ok    499"
        lines[100], lines[200] = "FAIL  one thing", "x.cpp:7: ERROR: CHECK( a ) is NOT correct!"
        shown = runner.excerpt("\n".join(lines))
        assert shown[:2] == [lines[100], lines[200]]
        assert shown[3:5] == [lines[100], "ok    101"]
        assert len(shown) <= runner.SHOWN_LINES + 1

    def test_what_cannot_be_built_has_failed(self):
        result = runner.run(Suite(["true"], runner.judge_counts, "build/no-such-target"))
        assert str(result) == "0 passed, 1 failed"
        assert "does not compile or link" in result.output

    def test_each_place_holds_suites(self):
        for place in runner.PLACES:
            assert runner.found(place), place
        for name in (*runner.SCRIPTS, *runner.LONGEST):
            assert any(ROOT.glob(name)), name


class TestReporter:
    """What is printed of a run, the last line alone."""

    def said(self, *reports, status=0):
        log = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()) as said:
            reporter = runner.Reporter(log)
            for report in reports:
                reporter.pytest_runtest_logreport(report)
            reporter.pytest_sessionfinish(status)
            reporter.pytest_unconfigure()
        assert log.getvalue().splitlines()[-1] == said.getvalue().splitlines()[-1]
        return said.getvalue().splitlines()

    def report(self, outcome, when="call", suite=None):
        properties = [("suite", suite)] if suite else []
        longrepr = ("x.py", 1, "Skipped: why") if outcome == "skipped" else "E   why"
        return pytest.TestReport("tests/x.py::test", ("tests/x.py", 1, "test"), {}, outcome,
                                 longrepr, when, user_properties=properties)

    def test_the_last_line_sums_suites_and_tests(self):
        said = self.said(self.report("passed", suite=(7, 0, 2, "STALE old\nok")), self.report("passed", "setup"),
                         self.report("passed"), self.report("skipped", "setup"), self.report("passed", "teardown"))
        assert re.search(r"ok    tests/x.py +7 passed, 0 failed, 2 skipped .*\n      STALE old\nok", "\n".join(said))
        assert said[-1] == "8 passed, 0 failed, 3 skipped"

    def test_what_failed_is_shown(self):
        said = self.said(self.report("failed", suite=(7, 3, 0, "FAIL  x")), self.report("failed"), status=1)
        assert "      FAIL  x" in said
        assert "      E   why" in said
        assert said[-1] == "7 passed, 4 failed"

    def test_a_run_that_ends_badly_has_failed(self):
        assert self.said(self.report("passed"), status=3)[-1] == "1 passed, 1 failed"
        assert self.said(status=5)[-1] == "0 passed, 1 failed"
