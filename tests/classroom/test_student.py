"""What a student types, and what is said to it."""

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import time

import pytest
import tree
from harness import built

from classroom import assignment, blanks, bugs, predict, student
from classroom.assignment import ROOT, Problem


class TestStudent:
    """Each with a folder of its own."""

    @pytest.fixture(autouse=True)
    def in_a_folder_of_its_own(self, tmp_path):
        self.mine = tmp_path
        self.task = assignment.find("03")
        self.folder = self.mine / "chapter03"
        self.file = self.folder / "relu.cu"

    @pytest.fixture
    def run_is_ours(self):
        with tree.borrowed_run(self.mine):
            yield

    def call(self, *words, **environment):
        """(exit status, what is said), of what make calls."""
        env = {name: value for name, value in os.environ.items() if name not in ("WHO", "NAME")}
        env |= {"BACKEND": "cpu", "PYTHONPATH": "common", "MINE": str(self.mine)} | environment
        command = [sys.executable, "-m", "classroom.student", *words]
        done = built.told(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL)
        assert "Traceback" not in done.stdout
        return done.returncode, " ".join(done.stdout.split())  # However it is wrapped.

    def says(self, words, *texts, status=0, **environment):
        got, said = self.call(*words.split(), **environment)
        assert got == status, said
        for text in texts:
            assert text in said
        return said

    def fill_in(self):
        """The solution's lines in place of the blanks."""
        text = self.task.exercise.read_text()
        filled = blanks.fill(text, blanks.answers(text, self.task.solution.read_text()))
        self.file.write_text(f"{filled}// {self.mine}\n")  # Seen by no progress before.

    def test_start_copies_the_exercise_and_never_overwrites(self):
        self.says("start 03", f"{self.file} is yours", "Lines 30 to 36", f"make hint03 MINE={self.mine}")
        assert self.file.read_text() == self.task.exercise.read_text()
        self.file.write_text("mine")
        self.says("start 03", "stays as it is", status=1)
        assert self.file.read_text() == "mine"

    def test_make_passes_everything_on(self):
        for words in (["start03"], ["predict03", "NAME=Seán O'Casey"]):
            done = built.told(["make", *words, "BACKEND=cpu", f"MINE={self.mine}"], cwd=ROOT)
            assert done.returncode == 0, done.stdout
        assert "Seán O'Casey" in (self.folder / predict.FILE).read_text()

    def test_what_is_not_there_is_said(self):
        self.says("start", "make start07", status=1)
        self.says("watch", "NN=07", status=1)
        self.says("start 77", "no assignment '77'; there are chapter01", status=1)
        self.says("exercise 03", "make start03", status=1)
        self.says("start 03", "make builds no file in a folder with spaces", status=1, MINE="my work")

    def test_hints_come_one_by_one(self):
        for number, hint in enumerate(self.task.hints, 1):
            self.says("hint 03", f"Hint {number} of {len(self.task.hints)}: {hint}")
        self.says("hint 03", "no more hints", status=1)
        assert (self.folder / student.HINTS).read_text().splitlines() == list(self.task.hints)

    def test_predictions_are_asked_and_then_checked(self):
        self.says("predict 03", "asks 3 questions", WHO="Ada Lovelace")
        sheet = self.folder / predict.FILE
        text = sheet.read_text()
        self.says("predict 03", "has no answer yet", status=1)
        self.says("predict 03", "is the sheet of Ada Lovelace", status=1, WHO="Charles Babbage")
        sheet.write_text(text.replace('answer_1 = ""', 'answer_1 = "many"'))
        self.says("predict 03", "answer_1 is 'many', which is no number", status=1)
        sheet.write_text(text.replace('answer_1 = ""', "answer_1 = nan"))
        self.says("predict 03", "answer_1 is 'nan', which is no number", status=1)
        sheet.write_text(text.replace('answer_1 = ""', "anwser_1 = 5"))
        self.says("predict 03", "there is no 'anwser_1'; it takes name, answer_1, ", status=1)
        right = predict.right_answers(self.task, "Ada Lovelace", [0])[0]
        sheet.write_text("\ufeff" + text.replace('answer_1 = ""', f'answer_1 = "{right:,.0f}"'))  # By Notepad.
        self.says("predict 03", f"1. right: the executor counts {right:,.0f} (load requests).", "2. is still open.",
                  "1 of 3 right.")
        sheet.write_text("answer_1 =")
        self.says("predict 03", "cannot be read", status=1)

    def test_a_copy_without_the_solution_counts_the_students_own_kernel(self):
        chapter = self.mine / "chapters/03_pack"
        chapter.mkdir(parents=True)
        (chapter / "relu.cu").symlink_to(self.file)
        handed_out = dataclasses.replace(self.task, folder=chapter, bugs=())
        self.says("start 03")
        with pytest.raises(Problem, match="has to pass its checks first"):
            predict.right_answers(handed_out, "Ada Lovelace", [0])
        self.fill_in()
        assert (predict.right_answers(handed_out, "Ada Lovelace", [0]) ==
                predict.right_answers(self.task, "Ada Lovelace", [0]))
        self.file.write_text(self.file.read_text().replace("kBlock = 256", "kBlock = 128"))
        with pytest.raises(Problem, match="with the constants that the questions change still in it"):
            predict.right_answers(handed_out, "Ada Lovelace", [2])
        with pytest.raises(Problem, match="no wrong kernels of chapter03 here. They would show its solution"):
            student.bugs_(student.Work(handed_out, str(self.mine)))

    def test_a_name_is_asked_for(self):
        self.says("predict 03", 'add NAME="Ada Lovelace"', status=1, GIT_CONFIG_GLOBAL="/dev/null",
                  GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="user.name", GIT_CONFIG_VALUE_0="")

    def test_bugs_are_handed_out_and_then_checked(self):
        self.says("bugs 03", "holds 2 wrong kernels")
        sheet = self.folder / bugs.FOLDER / bugs.FILE
        first, second = self.task.bugs
        assert (sheet.parent / "relu.first.cu").read_text() == bugs.handed_out(first)
        text = sheet.read_text()

        def answer(line, finding):
            sheet.write_text(text.replace('line = 0', f"line = {line}", 1)
                             .replace('finding = ""', f'finding = "{finding}"', 1))

        self.says("bugs 03", "first: still open.", "0 of 2 found.")
        answer(1, first.finding)
        self.says("bugs 03", f"'{first.finding}' is right; the bug is not on line 1.", "0 of 2 found.")
        answer(bugs.lines(first)[0], "race")
        self.says("bugs 03", "first: something else finds it first.", "0 of 2 found.")
        answer(bugs.lines(first)[0], first.finding)
        self.says("bugs 03", f"first: right. {first.why}", "second: still open.", "1 of 2 found.")
        answer(1, "magic")
        self.says("bugs 03", "'magic' is none of the choices", status=1)
        answer('"1"', "race")
        self.says("bugs 03", "line = '1' is no number", status=1)
        sheet.write_text("second = 5\n[frist]\nline = 5\n")
        self.says("bugs 03", "there is no 'frist'; it takes first, second", status=1)
        sheet.write_text("second = 5\n")
        self.says("bugs 03", "there is no '5'; it takes line, finding", status=1)

    def test_from_the_exercise_to_a_pass(self, run_is_ours):
        self.says("start 03")
        text = self.file.read_bytes()
        self.file.write_bytes(text + "// Schön\n".encode("latin-1"))
        self.says("exercise 03", "Still to be removed: line 35")
        self.file.write_bytes(text)
        self.says("exercise 03")
        student.PROGRESS.parent.mkdir(parents=True, exist_ok=True)
        student.PROGRESS.write_text("{")  # As a full disk leaves it.
        done = subprocess.run(["./run"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 1, done.stdout
        assert "FAILED: relu handles every length" in done.stdout
        assert done.stdout.endswith(f"Stuck? make hint03 MINE={self.mine}, and chapters/03_pack/README.md\n"), done.stdout
        self.says("progress", "chapter03 as it was handed out", "chapter02 not begun", "0 of ")

        self.fill_in()
        assert "Still to be removed" not in self.says("exercise 03")
        done = subprocess.run(["./run"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert "02_grid_stride" in done.stdout
        assert "Stuck?" not in done.stdout

        self.file.write_text(self.file.read_text().replace("if (i < n) y[i]", "if (i < n) y[j]"))
        self.says("exercise 03", 'identifier "j" is undefined', "It does not compile.", status=1)
        self.says("progress", "chapter03 does not compile")
        self.fill_in()
        self.says("progress", "Checking chapter03 ...", "chapter03 passes 0 of 5")
        assert "Checking" not in self.says("progress", "1 of ")

        self.file.write_text((ROOT / "chapters/01_one_thread_each/relu.cu").read_text())
        self.says("progress", "chapter03 passes, 1 of 4 bars", "touches 4 sectors and could bring 16")

    def test_watch_builds_and_runs_what_is_saved(self, run_is_ours):
        self.says("watch 03", "make start03", status=1)
        self.says("start 03")
        said = self.mine / "said"
        env = os.environ | {"BACKEND": "cpu", "PYTHONPATH": "common", "MINE": str(self.mine)}
        interruptible = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
        with open(said, "w") as out:  # What runs in the background of a script would ignore the signal.
            watching = subprocess.Popen([sys.executable, "-m", "classroom.student", "watch", "03"], cwd=ROOT,
                                        env=env, stdout=out, stderr=out, preexec_fn=interruptible)
        try:
            self.wait_for(said, "Stuck?")
            self.fill_in()
            self.wait_for(said, "14 checks passed")
            self.wait_for(said, "those of PTX")  # The table's last lines.
            time.sleep(2 * student.POLL)
            watching.send_signal(signal.SIGINT)
            assert watching.wait(60) == 0, said.read_text()  # On a busy machine it was late after 10 s.
        finally:
            watching.kill()
        assert "Traceback" not in said.read_text()

    def wait_for(self, path, text):
        for _ in range(600):
            if text in path.read_text():
                return
            time.sleep(0.1)
        pytest.fail(f"'{text}' is not in:\n{path.read_text()}")
