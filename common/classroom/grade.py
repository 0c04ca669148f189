"""Grades hand-ins: `make grade`.

    python -m classroom.grade DIR    each DIR/NAME/chapter07/<op>.cu; or DIR is one student's

The environment says more: CHAPTER=07 or TASK=dot (that alone; then DIR/NAME/<op>.cu will
do, too), ROSTER (a CSV file: folder, name, id), SHARE=3/10 (of ten graders at work on DIR,
this is the third), RESULTS, SEED, CONTAINED, JOBS, LIMIT (seconds that a hand-in may take);
and COMPILE, LINK and TOOLS, which the Makefile sets. TIMES=yes times what is right on a GPU, too.
Exits 0 when grading went well, whatever the grades. What is graded already, by the same
grader and seed, is not graded again.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time

from harness import built, script

from classroom import assignment, contain, explain, formats, result, roster, times
from classroom.assignment import ROOT, Problem
from classroom.formats import terminal, text
from classroom.result import ABSENT, GRADED, STOPPED, Result
from classroom.trial import BUILD, Trial, judge_command, reported

SECONDS = 150  # For a hand-in, its compilation included; LIMIT is another number.
MOST_SOURCE = 1 << 20  # Bytes.
JUDGING = ("chapters", "common", "tests")  # Folders.
NAME, SESSION = "result.json", "session.json"
SAME = ("seed", "commit", "compiler", "executor", "contained")  # For a result to be kept.
IDLE = {}  # (operation, seed) -> idle_checks().


@dataclasses.dataclass(frozen=True)
class HandIn:
    assignment: assignment.Assignment
    student: str
    path: pathlib.Path

    def folder(self, results):
        return results / result.folder_of(self.student) / self.assignment.name


@dataclasses.dataclass(frozen=True)
class Session:
    """What all hand-ins of a run have in common."""
    hand_ins: pathlib.Path
    seed: int
    commit: str
    compiler: str
    executor: str
    contained: str
    limit: int
    tools: contain.Tools


# ---- What was handed in -----------------------------------------------------


def find(folder, chosen, roster):
    """Every hand-in that DIR could hold: of each student, each assignment that is asked for.

    Who is on the roster and handed nothing in is found, too."""
    if not folder.is_dir():
        raise Problem(f"DIR={folder}: there is no such folder")
    there = folders_in(folder)
    students = [folder / name for name in sorted({*there, *roster})]
    names = {one.name for one in chosen}
    if own := sorted(names & there):
        if both := [path.name for path in students if any(os.path.lexists(path / name) for name in names)]:
            raise Problem(f"DIR={folder} holds {own[0]}, as one student's folder does, and a student, {both[0]}, "
                          "as a class's: give one of them another name, or say CHAPTER= or TASK=")
        students = [folder]
    for student in students:
        for one in chosen:
            path = student / one.name / f"{one.op}.cu"
            if len(chosen) == 1 and not os.path.lexists(path.parent):
                path = student / f"{one.op}.cu"
            if len(chosen) == 1 or os.path.lexists(path.parent):
                yield HandIn(one, student.name, path)


def folders_in(folder):
    return {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")}


def strange_in(folder, hand_ins, students, names):
    """(what is strange, in which folders): results do not tell."""
    if students:
        yield "Not on the roster", {hand_in.student for hand_in in hand_ins} - students.keys()
    if names:
        yield "Of two files the one in the folder of the assignment was graded", {
            one.student for one in hand_ins if all(map(os.path.lexists, (one.path, one.path.parents[1] / one.path.name)))}
    else:
        read = {hand_in.path.relative_to(folder).parts[0] for hand_in in hand_ins}
        yield "Nothing that is asked for is in", folders_in(folder) - read


def share_of(hand_ins):
    """Those that are this grader's, where several are at work."""
    given = os.environ.get("SHARE") or "1/1"
    which, _, count = given.partition("/")
    if not (which.isdecimal() and count.isdecimal() and 1 <= int(which) <= int(count)):
        raise Problem(f"SHARE={given}: write SHARE=3/10 for the third of ten graders")
    return hand_ins[int(which) - 1::int(count)]


def read_source(path, folder):
    """(bytes, '') or (b'', what is wrong), of a file below a folder. A link could show another student's."""
    between = itertools.takewhile(folder.__ne__, (path, *path.parents))
    if links := [part.name for part in between if part.is_symlink()]:
        return b"", f"{links[-1]} is a link; hand in the file itself."
    if not path.exists():
        return b"", f"There is no {path.name}."
    if not path.is_file():
        return b"", f"{path.name} is no file."
    if path.stat().st_size > MOST_SOURCE:
        return b"", f"{path.name} has {path.stat().st_size:,} bytes; at most {MOST_SOURCE:,} are read."
    try:
        source = path.read_bytes()
    except OSError as error:
        return b"", f"{path.name} cannot be read: {error.strerror}."
    return (source, "") if source.strip() else (b"", f"{path.name} is empty.")


# ---- Judging one ------------------------------------------------------------


def idle_checks(one, seed):
    """Check -> whether a function that does nothing passes it."""
    if (one.op, seed) not in IDLE:
        IDLE[one.op, seed] = judge_nobody(one, seed)
    checks, counters = IDLE[one.op, seed]
    if unknown := [bar.counter for bar in one.bars if bar.counter not in counters]:
        raise Problem(f"{one.folder / assignment.NAME}: bar: nothing is counted as '{unknown[0]}'; "
                      f"there are {', '.join(counters)}")
    return checks


def judge_nobody(one, seed):
    """(what becomes of each check, all that is counted), if no hand-in is there."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        command, environment = judge_command(one, report, seed)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = list(reported(report))
    states = {line["check"]: line["state"] for line in lines if "check" in line}
    if not states or "begun" in states.values():
        raise Problem(f"the judge of {one.op} does not run to its end: {' '.join(command)}")
    return ({check: state == "passed" for check, state in states.items() if state != "skipped"},
            next(line["counters"] for line in lines if "counters" in line))


def graded(session, hand_in, number):
    """The result of one hand-in."""
    begun = time.monotonic()
    source, message = read_source(hand_in.path, session.hand_ins)
    status, trial = ABSENT, None
    if source:
        trial = Trial(session, hand_in, source, number)
        trial.run()
        status, message = explain.outcome(trial)
    folder = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in hand_in.student)  # No two alike.
    idle = idle_checks(hand_in.assignment, session.seed)
    return Result(
        folder, folder, hand_in.assignment.name,
        str(hand_in.path.relative_to(session.hand_ins)),
        hashlib.sha256(source).hexdigest() if source else "", status, message,
        tuple(explain.checks(hand_in.assignment, idle, trial if status in (GRADED, STOPPED) else None)),
        session.seed, session.commit, session.compiler, session.executor, session.contained,
        round(time.monotonic() - begun, 2), explain.counters(trial) if trial else {}, limit=session.limit)


# ---- All of them ------------------------------------------------------------


def said(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def commit():
    """Behind a +, where that is not all, what a teacher has made of it: bars edited once more are other bars."""
    if "COMMIT" in os.environ:  # Of a copy without history, in an archive.
        return os.environ["COMMIT"]
    known = said("git", "rev-parse", "--short", "HEAD")
    if known and not said("git", "status", "--porcelain", "--", *JUDGING):
        return known
    return f"{known or 'unknown'}+{digest(*JUDGING)}"


def digest(*folders):
    """Of all files of these folders and their names."""
    sum_ = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*")
                       if path.is_file() and path.suffix != ".pyc"):
        sum_.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return sum_.hexdigest()[:12]


def tools():
    missing = [name for name in ("COMPILE", "LINK", "TOOLS") if name not in os.environ]
    if missing:
        raise Problem(f"{missing[0]} is not set: call the grader by `make grade`")
    return contain.Tools(os.environ["COMPILE"], os.environ["LINK"], tuple(os.environ["TOOLS"].split()),
                         os.environ.get("UNUSED", ""))


def compiler(tools):
    nvcc = said(tools.compile.split()[0], "--version").splitlines()
    return f"{nvcc[-1] if nvcc else 'unknown'}; {said(tools.link.split()[0], '--version').splitlines()[0]}"


def seed_of(results, hand_ins):
    """The seed of a class stays what it was, so that a grader goes on where it stopped. Of several
    that begin at once, the first one draws it for all."""
    if given := os.environ.get("SEED"):
        if not given.isdecimal() or int(given) >= 1 << 31:
            raise Problem(f"SEED={given}: it is a number below 2^31")
        return int(given)
    with built.alone(ROOT):
        if "seed" not in remembered(results):
            remember(results, random.SystemRandom().randrange(1, 1 << 31), hand_ins)
    return remembered(results)["seed"]


def remember(results, seed, hand_ins):
    text.write(results / SESSION, json.dumps({"seed": seed, "hand_ins": str(hand_ins.resolve())}) + "\n")


def remembered(results):
    """What the last grading with these results was of, if there was one."""
    path = results / SESSION
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise Problem(f"{path} cannot be read: {error}. Name the seed, SEED=n, or another folder, RESULTS=") from error


def number_of(name, what, usual):
    """The setting of that name: a number from 1 on."""
    given = os.environ.get(name) or str(usual)
    if not given.isdecimal() or int(given) == 0:
        raise Problem(f"{name}={given}: it is a number of {what}")
    return int(given)


def jobs_at_once():
    return number_of("JOBS", "hand-ins at once", os.cpu_count())


def build_judges(ops):
    targets = [str(BUILD / f"{op}.{kind}") for op in sorted(ops) for kind in ("judge", "parts")]
    with built.alone(ROOT):
        done = built.make_aloud(ROOT, "cpu", "--silent", f"-j{os.cpu_count()}", *targets)
    if done.returncode:
        raise Problem("the judges could not be built: see above")


def is_done(hand_in, results, session):
    """Whether its result is there, of this very file, seed, grader and assignment."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = result.load(hand_in.folder(results) / NAME)
        source, _ = read_source(hand_in.path, session.hand_ins)
        return (kept.sha256 == (hashlib.sha256(source).hexdigest() if source else "") and
                all(getattr(kept, word) == getattr(session, word) for word in SAME) and
                (kept.status != STOPPED or kept.limit == session.limit))
    return False


def in_rooms(jobs, work, hand_ins):
    """work(hand_in, number of its room) of each, in order, so many at a time."""
    rooms = queue.SimpleQueue()
    for number in range(jobs):
        rooms.put(number)

    def in_one(hand_in):
        number = rooms.get()
        try:
            return work(hand_in, number)
        finally:
            rooms.put(number)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(in_one, hand_ins)


def grade_all(session, results, hand_ins, jobs):
    """Each result is written as soon as it is there. Whom the others left no memory is graded once more, alone."""
    told, begun, lock = collections.Counter(), time.monotonic(), threading.Lock()

    def one(hand_in, number, alone=False):
        """The hand-in if it has to be graded alone."""
        path = hand_in.folder(results) / NAME
        if not is_done(hand_in, results, session):
            made = graded(session, hand_in, number)
            if made.message.startswith(contain.OUT_OF_MEMORY) and not alone:
                return hand_in
            text.write(path, made.json())
            told["graded"] += 1
        made = result.load(path)
        with lock:
            told["all"] += 1
            rate = 60 * told["graded"] / (time.monotonic() - begun)
            print(f"{told['all']:5} of {len(hand_ins)}  {made.student[:24]:24} {made.assignment:10} "
                  f"{made.points:6.1f} of {made.of:g}  {made.status:12} {rate:5.1f} per minute", flush=True)
        return None

    for hand_in in list(filter(None, in_rooms(jobs, one, hand_ins))):
        one(hand_in, 0, alone=True)


def time_all(session, tools, results, hand_ins):
    """One after the other, as they share the GPU. An open task has no benchmark."""
    for hand_in in hand_ins:
        path = hand_in.folder(results) / NAME
        made = result.load(path)
        if made.is_right and "ratio" not in made.time and not hand_in.assignment.is_open:
            source, _ = read_source(hand_in.path, session.hand_ins)
            made = dataclasses.replace(made, time=times.compared(session, tools, hand_in, source))
            text.write(path, made.json())
            print(f"{made.student[:24]:24} {made.assignment:10} {text.line(text.time(made))}", flush=True)


def asked_for():
    """The name of the only assignment, in a list; an empty one if all are meant."""
    given = [*filter(None, map(os.environ.get, ("CHAPTER", "TASK")))]
    if len(given) > 1:
        raise Problem(f"CHAPTER={given[0]} and TASK={given[1]} are two: grade one after the other")
    return [assignment.find(name).name for name in given]


def start(hand_ins, results, seed):
    chosen_tools = tools()
    contained = contain.choose(os.environ.get("CONTAINED", ""), chosen_tools, hand_ins.resolve(), results.resolve())
    return Session(hand_ins, seed, commit(), compiler(chosen_tools),
                   digest("common/simt"), contained, number_of("LIMIT", "seconds", SECONDS), chosen_tools)


def main(folder):
    timed, jobs = times.wanted(), jobs_at_once()
    names = asked_for()
    chosen = [*map(assignment.find, names)] or assignment.every()
    folder, results = pathlib.Path(os.path.abspath(folder)), pathlib.Path(os.environ.get("RESULTS") or "results")
    students = roster.read(pathlib.Path(os.environ["ROSTER"])) if os.environ.get("ROSTER") else {}
    hand_ins = list(find(folder, chosen, students))
    if not hand_ins:
        raise Problem(f"{folder} holds no hand-in: NAME/{chosen[0].name}/{chosen[0].op}.cu would be one")
    strange = list(strange_in(folder, hand_ins, students, names))
    if not (hand_ins := share_of(hand_ins)):
        print("There are fewer hand-ins than graders: nothing is left for this one.")
        return
    seed = seed_of(results, folder)
    remember(results, seed, folder)  # So that the folder is there when it is asked who could enter it.
    session = start(folder, results, seed)
    build_judges({hand_in.assignment.op for hand_in in hand_ins})
    chosen = {h.assignment.name: h.assignment for h in hand_ins}.values()
    if timed:
        measured = [one for one in chosen if not one.is_open]
        timers = times.build(measured)
        times.try_solutions(session, timers, [HandIn(one, "", one.solution) for one in measured])
    for one in chosen:
        idle_checks(one, session.seed)
    grade_all(session, results, hand_ins, jobs)
    if timed:
        time_all(session, timers, results, hand_ins)
    graded_now = [hand_in.folder(results) / NAME for hand_in in hand_ins]
    print(terminal.of_results(formats.write_all(graded_now, results, students)), end="")
    for what, which in strange:
        if which:
            print(f"{what}: {', '.join(map(text.line, sorted(which)))}.")
    print(f"Seed {session.seed}; everything is in {results}.")


if __name__ == "__main__":
    try:
        script("grade", main, *sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\ngrade: stopped. Call it again, and it goes on here.")
