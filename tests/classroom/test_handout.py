"""A handout holds what a student needs, and no line of a solution."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
import tree
from ladder import toolchain

from classroom import assignment, blanks, handout
from classroom.assignment import Problem


class TestHandout:
    @pytest.fixture(autouse=True)
    def in_a_folder_of_its_own(self, tmp_path):
        self.folder = tmp_path / "course"

    def texts(self):
        return {path.relative_to(self.folder): path.read_text(errors="replace")
                for path in self.folder.rglob("*") if path.is_file() and ".git" not in path.parts}

    def test_no_file_and_no_commit_shows_a_solution(self):
        handout.main(self.folder, "")
        for one in handout.that_go_together([a for a in assignment.every() if not a.is_open])[0]:
            assert handout.solution_lines([one]), one.name
            answer = "".join(blanks.answers(one.exercise.read_text(), one.solution.read_text()))
            for path, text in self.texts().items():
                assert answer not in text, path
        history = subprocess.run(["git", "log", "--all", "--format=%h"], cwd=self.folder, capture_output=True, text=True)
        assert len(history.stdout.split()) == 1
        status = subprocess.run(["git", "status", "--porcelain"], cwd=self.folder, capture_output=True, text=True)
        assert status.stdout == ""

    def test_it_builds_and_tests_from_its_own_folder(self):
        """With the executor that is built here: compiling it once more would take minutes."""
        one = assignment.find("03")
        handout.main(self.folder, "03")
        there = self.folder / "build/cpu"
        there.mkdir(parents=True)
        shutil.copy(assignment.ROOT / "build/cpu/settings", there)
        tree.hand_over_executor(there, one.solution)
        (self.folder / ".toolchain").symlink_to(assignment.ROOT / ".toolchain")
        shipped = toolchain.make(self.folder, "cpu", "test03")
        assert shipped.returncode != 0
        assert "FAILED: relu handles every length" in shipped.stdout
        shutil.copy(one.solution, self.folder / "mine/chapter03/relu.cu")
        solved = toolchain.make(self.folder, "cpu", "test03")
        assert solved.returncode == 0, solved.stdout
        assert "checks passed" in solved.stdout

    def test_a_file_that_would_show_one_is_refused(self, tmp_path, monkeypatch):
        one = assignment.find("08")
        line = min(handout.solution_lines([one]))
        planted = tmp_path / "terms.md"
        planted.write_text(f"It says `{line}`.\n")
        monkeypatch.setattr(handout, "FILES", (str(planted),))
        with pytest.raises(Problem, match="would show a line of a solution"):
            handout.contents([one], True)

    def test_every_solution_line_is_looked_for(self):
        one = assignment.find("03")
        for line in handout.solution_lines([one]):
            assert handout.shown(f"x\n  {line}\ny", {line}) == line
            assert handout.shown(f"x\n{line.replace(' ', '  ')}", {line}) == line
            assert handout.shown("x\ny\n", {line}) == ""

    def test_pages_lose_directives_code_of_the_solution_and_dead_links(self):
        handout.main(self.folder, "08")
        page = self.texts()[pathlib.Path("chapters/08_sum_shared/README.md")]
        assert "<!--" not in page
        assert handout.LEFT_OUT in page
        assert "](../07" not in page
        assert "](../../docs/terms.md#" in page
        for _, _, target, _ in handout.LINK.findall(page):
            if "://" not in target:
                assert (self.folder / "chapters/08_sum_shared" / target).exists(), target

    def test_exercises_that_give_others_away_do_not_go_together(self):
        with pytest.raises(Problem, match="chapter09 is left out: its exercise shows what chapter08 asks for"):
            handout.main(self.folder, "03 08 09")
        assert not self.folder.exists()
        kept, left_out = handout.that_go_together(assignment.every()[:11])
        assert [one.name[-2:] for one in kept] == ["01", "02", "03", "04", "05", "06", "07", "08", "11"]
        assert len(left_out) == 2

    def test_what_an_exercise_includes_is_shown_by_it(self):
        with pytest.raises(Problem, match="reverse is left out: its exercise shows what chapter02 asks for"):
            handout.main(self.folder, "02 reverse")

    def test_wrong_kernels_come_when_the_exercise_is_in(self, monkeypatch):
        handout.main(self.folder / "before", "03")
        assert not list(self.folder.glob("before/tests/wrong/*"))
        assert assignment.read.__wrapped__(self.folder / "before/chapters/03_pack").bugs == ()
        monkeypatch.setenv("BUGS", "yes")
        handout.main(self.folder / "after", "03")
        one = assignment.find("03")
        assert {path.name for path in self.folder.glob("after/tests/wrong/*")} == {bug.file for bug in one.bugs}
        assert assignment.read.__wrapped__(self.folder / "after/chapters/03_pack").bugs == one.bugs
        elsewhere = [path for path in (self.folder / "after").rglob("*") if path.is_file() and "wrong" not in path.parts]
        for path in elsewhere:
            assert not handout.shown(path.read_text(errors="replace"), handout.solution_lines([one])), path

    def test_hints_can_be_left_out(self, monkeypatch):
        monkeypatch.setenv("HINTS", "no")
        handout.main(self.folder, "03")
        assert assignment.read.__wrapped__(self.folder / "chapters/03_pack").hints == ()
        assert handout.HINTS.sub("", 'op = "a"\nhints = ["b[]", "c"]\nlines = 1\n') == 'op = "a"\nlines = 1\n'
        monkeypatch.setenv("HINTS", "No")
        with pytest.raises(Problem, match="HINTS=No: it is yes or no"):
            handout.main(self.folder / "another", "03")
        assert not (self.folder / "another").exists()

    def test_a_bug_that_cannot_be_left_out_is_no_handout(self, monkeypatch):
        monkeypatch.setattr(handout, "TABLE", re.compile("^$"))
        with pytest.raises(Problem, match="its hints or bugs cannot be left out"):
            handout.main(self.folder, "03")

    def test_the_student_finds_a_file_that_make_builds(self):
        handout.main(self.folder, "03 dot")
        assert (self.folder / "mine/chapter03/relu.cu").read_text() == assignment.find("03").exercise.read_text()
        link = self.folder / "chapters/03_pack/relu.cu"
        assert link.resolve() == (self.folder / "mine/chapter03/relu.cu").resolve()
        for name in ("common/classroom/tasks/dot/dot_test.cpp", "tests/every_contract.h", "mine/dot/dot.cu"):
            assert (self.folder / name).is_file(), name
        assert "make exercise03 && ./run" in (self.folder / "README.md").read_text()

    def test_a_folder_with_something_in_it_stays_as_it_is(self):
        self.folder.mkdir()
        (self.folder / "mine.txt").write_text("x")
        with pytest.raises(Problem, match="not empty"):
            handout.main(self.folder, "03")
        assert os.listdir(self.folder) == ["mine.txt"]
        with pytest.raises(Problem, match="there is no assignment '99'"):
            handout.main(self.folder, "99")
