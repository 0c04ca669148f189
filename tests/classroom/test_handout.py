"""A handout holds what a student needs, and no line of a solution."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

from classroom import assignment, blanks, handout
from classroom.assignment import ROOT, Problem


def written(folder, names, **environment):
    with unittest.mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(io.StringIO()):
        handout.main(folder, names)


class Handout(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name, "course")

    def texts(self):
        return {path.relative_to(self.folder): path.read_text(errors="replace")
                for path in self.folder.rglob("*") if path.is_file() and ".git" not in path.parts}

    def test_no_file_and_no_commit_shows_a_solution(self):
        written(self.folder, "")
        for one in handout.that_go_together([a for a in assignment.every() if not a.is_open])[0]:
            self.assertTrue(handout.solution_lines([one]), one.name)
            answer = "".join(blanks.answers(one.exercise.read_text(), one.solution.read_text()))
            for path, text in self.texts().items():
                self.assertNotIn(answer, text, path)
        history = subprocess.run(["git", "log", "--all", "--format=%h"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(len(history.stdout.split()), 1)
        status = subprocess.run(["git", "status", "--porcelain"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(status.stdout, "")

    def test_a_file_that_would_show_one_is_refused(self):
        one = assignment.find("08")
        line = min(handout.solution_lines([one]))
        with tempfile.TemporaryDirectory() as folder:
            planted = pathlib.Path(folder, "terms.md")
            planted.write_text(f"It says `{line}`.\n")
            with unittest.mock.patch.object(handout, "FILES", (str(planted),)):
                with self.assertRaisesRegex(Problem, "would show a line of a solution"):
                    handout.contents([one], True)

    def test_every_solution_line_is_looked_for(self):
        one = assignment.find("03")
        for line in handout.solution_lines([one]):
            self.assertEqual(handout.shown(f"x\n  {line}\ny", {line}), line)
            self.assertEqual(handout.shown(f"x\n{line.replace(' ', '  ')}", {line}), line)
            self.assertEqual(handout.shown("x\ny\n", {line}), "")

    def test_pages_lose_directives_code_of_the_solution_and_dead_links(self):
        written(self.folder, "08")
        page = self.texts()[pathlib.Path("chapters/08_sum_shared/README.md")]
        self.assertNotIn("<!--", page)
        self.assertIn(handout.LEFT_OUT, page)
        self.assertNotIn("](../07", page)
        self.assertIn("](../../docs/terms.md#", page)
        for _, _, target, _ in handout.LINK.findall(page):
            if "://" not in target:
                self.assertTrue((self.folder / "chapters/08_sum_shared" / target).exists(), target)

    def test_exercises_that_give_others_away_do_not_go_together(self):
        with self.assertRaisesRegex(Problem, "chapter09 is left out: its exercise shows what chapter08 asks for"):
            written(self.folder, "03 08 09")
        self.assertFalse(self.folder.exists())
        kept, left_out = handout.that_go_together(assignment.every()[:11])
        self.assertEqual([one.name[-2:] for one in kept], ["01", "02", "03", "04", "05", "06", "07", "08", "11"])
        self.assertEqual(len(left_out), 2)

    def test_what_an_exercise_includes_is_shown_by_it(self):
        with self.assertRaisesRegex(Problem, "reverse is left out: its exercise shows what chapter02 asks for"):
            written(self.folder, "02 reverse")

    def test_hints_can_be_left_out(self):
        written(self.folder, "03", HINTS="no")
        self.assertEqual(assignment.read.__wrapped__(self.folder / "chapters/03_pack").hints, ())

    def test_the_student_finds_a_file_that_make_builds(self):
        written(self.folder, "03 dot")
        self.assertEqual((self.folder / "mine/chapter03/relu.cu").read_text(), assignment.find("03").exercise.read_text())
        link = self.folder / "chapters/03_pack/relu.cu"
        self.assertEqual(link.resolve(), (self.folder / "mine/chapter03/relu.cu").resolve())
        for name in ("common/classroom/tasks/dot/dot_test.cpp", "tests/every_contract.h", "mine/dot/dot.cu"):
            self.assertTrue((self.folder / name).is_file(), name)
        self.assertIn("make exercise03 && ./run", (self.folder / "README.md").read_text())

    def test_a_folder_with_something_in_it_stays_as_it_is(self):
        self.folder.mkdir()
        (self.folder / "mine.txt").write_text("x")
        with self.assertRaisesRegex(Problem, "not empty"):
            written(self.folder, "03")
        self.assertEqual(os.listdir(self.folder), ["mine.txt"])
        with self.assertRaisesRegex(Problem, "there is no assignment '99'"):
            written(self.folder, "99")


if __name__ == "__main__":
    unittest.main()
