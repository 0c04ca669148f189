"""The student's commands: make start07, exercise07, hint07, predict07, bugs07, watch, progress.

What a student writes lies in mine/chapter07, or in another folder that MINE names.
"""

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

from harness import built

from classroom import assignment, blanks, bugs, predict, workshop
from classroom.assignment import ROOT, Problem

BACKEND = os.environ.get("BACKEND", "cpu")
HINTS = "hints.txt"
PLANTED = re.compile(rf"{workshop.FOLDER}/[\w.]+\.cu")
PROGRESS = ROOT / workshop.FOLDER / "progress.json"
POLL = 0.3  # Seconds.
NOT_BEGUN, UNTOUCHED, BROKEN, PASSES = "not begun", "as it was handed out", "does not compile", "passes"


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """A student's folder for one assignment."""
    task: assignment.Assignment
    mine: str

    @property
    def folder(self):
        return pathlib.Path(self.mine, self.task.name)

    @property
    def file(self):
        return self.folder / f"{self.task.op}.cu"

    def command(self, step):
        """make hint07, or make hint TASK=dot; in a folder of one's own with MINE."""
        number = self.task.name.removeprefix("chapter")
        goal = f"make {step}{number}" if number.isdigit() else f"make {step} TASK={self.task.name}"
        return goal if self.mine == "mine" else f"{goal} MINE={self.mine}"

    @property
    def page(self):
        return self.task.folder.relative_to(ROOT) / "README.md"

    def needs_file(self):
        if not self.file.is_file():
            raise Problem(f"There is no {self.file}: {self.command('start')} puts the exercise there.")

    def hints(self):
        path = self.folder / HINTS
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def say(text):
    print("\n".join(textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)))


def write_new(path, text):
    """A student's file is never overwritten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)


# ---- The commands -----------------------------------------------------------


def start(work):
    text = work.task.exercise.read_text(encoding="utf-8")
    if work.file.exists():
        raise Problem(f"{work.file} is there already and stays as it is. To begin anew, move it away first.")
    write_new(work.file, text)
    if work.task.is_open:
        say(f"{work.file} is yours. {work.task.folder.relative_to(ROOT)}/README.md says what it has to do.")
    else:
        found, _ = blanks.split(text)
        where = " and ".join(f"{blank.first} to {blank.last}" for blank in found)
        say(f"{work.file} is yours. Lines {where} are left for you: write your code there, as their comment asks, "
            "and remove the comment.")
    steps = [("exercise", "&& ./run: builds it and checks it"), ("hint", ": the first hint")]
    if work.task.questions:
        steps.append(("predict", ": what will the counters say?"))
    if work.task.bugs:
        steps.append(("bugs", ": where are two wrong kernels wrong?"))
    for step, what in steps:
        print(f"  {work.command(step)}{'' if what[0] == ':' else ' '}{what}")


def exercise(work):
    if not build(work):
        raise Problem("It does not compile. The first error above names the line; those after it may be its "
                      f"consequences. {work.command('hint')} helps you on.")


def build(work):
    """Point ./run at the student's file; whether it compiles."""
    work.needs_file()
    if built.make_aloud(ROOT, BACKEND, "run", f"SRC={work.file}").returncode:
        return False
    if left := blanks.left(work.file.read_text(encoding="utf-8", errors="replace")):
        print(f"Still to be removed: line {', '.join(map(str, left))} of {work.file}")
    program = (ROOT / "run").resolve()
    program.with_suffix(".next").write_text(f"Stuck? {work.command('hint')}, and {work.page}\n", encoding="utf-8")
    compare(work, program)
    return True


def compare(work, program):
    """./run shows the counters beside those of the chapter before, where it is there."""
    same = [path for path in sorted(ROOT.glob(f"chapters/*/{work.task.op}.cu")) if path.parent < work.task.folder]
    if BACKEND == "cpu" and same:
        counts = f"build/cpu/{same[-1].relative_to(ROOT).with_suffix('.counts')}"
        if built.make_aloud(ROOT, "cpu", "--silent", counts, stdout=subprocess.DEVNULL).returncode == 0:
            program.with_suffix(".before").write_bytes((ROOT / counts).read_bytes())


def hint(work):
    shown, hints = work.hints(), work.task.hints
    if not hints:
        raise Problem(f"There are no hints here. {work.page} may help.")
    if len(shown) >= len(hints):
        raise Problem(f"There are no more hints than the {len(hints)} in {work.folder / HINTS}. Read the chapter's "
                      "page again, or ask somebody: saying aloud what you try often helps.")
    text = hints[len(shown)]
    work.folder.mkdir(parents=True, exist_ok=True)
    with open(work.folder / HINTS, "a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    say(f"Hint {len(shown) + 1} of {len(hints)}: {text}")


def predict_(work):
    path, again = work.folder / predict.FILE, work.command("predict")
    if not path.exists():
        write_new(path, predict.sheet(work.task, who(), again))
        say(f"{path} asks {len(work.task.questions)} questions. Answer them in the file before you run anything; "
            f"{again} then checks them.")
        return
    name, answers = predict.read(path, work.task)
    if (asked := os.environ.get("WHO")) and asked != name:
        raise Problem(f"{path} is the sheet of {name}. For another one of {asked}, move it away first.")
    if not any(answer is not None for answer in answers):
        raise Problem(f"{path} has no answer yet: write your numbers between the quotes.")
    sentences, right = predict.verdicts(work.task, name, answers)
    for sentence in sentences:
        say(sentence)
    print(f"{right} of {len(sentences)} right.")


def who():
    """Whose sheet it is: NAME=, else git's user, else who is asked at the terminal."""
    git = subprocess.run(["git", "config", "user.name"], cwd=ROOT, capture_output=True, text=True)
    name = os.environ.get("WHO") or git.stdout.strip()
    if not name and sys.stdin.isatty():
        name = input("Your name, from which the sheet's numbers derive: ")
    if not name.strip():
        raise Problem("The sheet's numbers derive from your name: add NAME=\"Ada Lovelace\"")
    return " ".join(name.split())


def bugs_(work):
    if not work.task.bugs:
        later = " They would show its solution: your teacher hands them out once it is in." * (not work.task.is_open)
        raise Problem(f"There are no wrong kernels of {work.task.name} here.{later}")
    folder, again = work.folder / bugs.FOLDER, work.command("bugs")
    if not (folder / bugs.FILE).exists():
        for name, bug in bugs.named(work.task).items():
            path = folder / f"{work.task.op}.{name}.cu"
            if not path.exists():
                write_new(path, bugs.handed_out(bug))
        write_new(folder / bugs.FILE, bugs.sheet(work.task, folder, again))
        say(f"{folder} holds {len(work.task.bugs)} wrong kernels. Say in {folder / bugs.FILE} which line is wrong "
            f"and what finds it; {again} then checks that.")
        return
    sentences, solved = bugs.verdicts(work.task, folder / bugs.FILE)
    for sentence in sentences:
        say(sentence)
    print(f"{solved} of {len(sentences)} found.")


def watch(work):
    """Build and run again whenever the file is saved."""
    work.needs_file()
    say(f"Watching {work.file}: save it, and it is built and run. Ctrl-C ends this.")
    seen = None
    try:
        while True:
            now = work.file.stat().st_mtime_ns if work.file.exists() else seen
            if now != seen:
                seen = now
                print(f"\n---- {time.strftime('%H:%M:%S')} {work.file}", flush=True)
                if build(work):
                    subprocess.run(["./run"], cwd=ROOT)
            time.sleep(POLL)
    except KeyboardInterrupt:
        print()


# ---- Progress ---------------------------------------------------------------


def progress(mine):
    works = [Work(task, mine) for task in assignment.every() if task.exercise.is_file()]
    found = judged(works)
    name, wide = (max(map(len, column)) for column in ([w.task.name for w in works], [s for s, *_ in found]))
    print(f"{'exercise':{name}}  {'state':{wide}}  hints")
    for work, (state, *why) in zip(works, found):
        print(f"{work.task.name:{name}}  {state:{wide}}  {len(work.hints())} of {len(work.task.hints)}")
        for sentence in why:
            sentence = PLANTED.sub(str(work.file), sentence)
            print(textwrap.fill(sentence, 80, initial_indent="  ", subsequent_indent="  "))
    print(f"{sum(state.startswith(PASSES) for state, *_ in found)} of {len(works)} pass.")


def judged(works):
    """[state, sentences that say why] of each; what has not changed is remembered."""
    known = {}
    with contextlib.suppress(FileNotFoundError, ValueError):  # Half a file is of one who was stopped.
        known = json.loads(PROGRESS.read_text(encoding="utf-8"))
    texts = {work: work.file.read_text(encoding="utf-8", errors="replace") for work in works if work.file.is_file()}
    keys = {work: hashlib.sha256(f"{work.task.name}{work.task.bars}{text}".encode()).hexdigest()
            for work, text in texts.items()}
    known |= {keys[work]: [UNTOUCHED] for work, text in texts.items()
              if text == work.task.exercise.read_text(encoding="utf-8")}
    new = [work for work in texts if keys[work] not in known]
    if new:
        print(f"Checking {', '.join(work.task.name for work in new)} ...", flush=True)
    planted = [workshop.plant(work.task.op, texts[work]) for work in new]
    programs = workshop.build(planted)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        states = pool.map(lambda work, path: state_of(work.task, programs[path]), new, planted)
        known |= zip([keys[work] for work in new], states)
    PROGRESS.parent.mkdir(parents=True, exist_ok=True)
    PROGRESS.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return [known[keys[work]] if work in keys else [NOT_BEGUN] for work in works]


def state_of(task, program):
    if isinstance(program, str):
        return [BROKEN]
    check, finding = workshop.failure(program)
    if check:
        return [f"fails: {check}", *([finding] if finding else [])]
    missed = workshop.missed(task.bars, program)
    reached = f", {len(task.bars) - len(missed)} of {len(task.bars)} bars" if missed else ""
    return [PASSES + reached, *missed]


# ---- What make calls --------------------------------------------------------

COMMANDS = {"start": start, "exercise": exercise, "hint": hint, "predict": predict_, "bugs": bugs_, "watch": watch}


def main():
    command, name = sys.argv[1], " ".join(sys.argv[2:])
    mine = os.environ.get("MINE") or "mine"
    try:
        if len(mine.split()) > 1:
            raise Problem(f"MINE={mine}: make builds no file in a folder with spaces in its name.")
        if command == "progress":
            progress(mine)
        elif not name:
            wanted = "NN=07" if command == "watch" else f"make {command}07"
            raise Problem(f"Say which exercise: {wanted}, or TASK= and the name of a task.")
        else:
            COMMANDS[command](Work(assignment.find(name), mine))
    except Problem as problem:
        say(str(problem)) if "\n" not in str(problem) else print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
