"""Grades hand-ins: `make grade`.

    python -m classroom.grade DIR    each DIR/NAME/chapter07/<op>.cu; or DIR is one student's

The environment says more: CHAPTER=07 or TASK=dot (that alone; then DIR/NAME/<op>.cu will
do, too), ROSTER (a CSV file: folder, name, id), SHARE=3/10 (of ten graders at work on DIR,
this is the third), RESULTS, SEED, CONTAINED, JOBS, LIMIT (seconds that a hand-in may take);
and COMPILE, LINK and TOOLS, which the Makefile sets.
Exits 0 when grading went well, whatever the grades. What is graded already, by the same
grader and seed, is not graded again.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import queue
import random
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from harness import built

from classroom import assignment, contain, explain, formats, handout, result, roster
from classroom.assignment import ROOT, Problem
from classroom.formats import terminal, text
from classroom.result import ABSENT, GRADED, STOPPED, Result

BUILD = pathlib.Path(os.environ.get("JUDGES", "build/cpu/grade"))  # Elsewhere with MARCH=.
SECONDS = 150  # For a hand-in, its compilation included; LIMIT is another number.
SECONDS_ON_GPU = 20  # Of processor time, for all kernels of a try.
TRIES = 16  # A process that ends within a check gets another for the checks behind it.
MOST_SOURCE = 1 << 20  # Bytes.
FILES = {".json", ".csv", ".xml", ".md", ".svg", ".png", ".part"}  # What RESULTS may hold beside folders.
MOST_REPORT = 64 << 20
TICK = 0.25  # Seconds between two looks at what a hand-in takes.
NAME, SESSION = "result.json", "session.json"
IDLE = {}  # Operation -> idle_checks().


@dataclasses.dataclass(frozen=True)
class HandIn:
    assignment: assignment.Assignment
    student: str
    path: pathlib.Path

    def folder(self, results):
        """A student who is called like a file of ours gets no such folder."""
        is_file = pathlib.Path(self.student).suffix in FILES
        return results / (self.student + "_" * is_file) / self.assignment.name


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
    students: dict  # The roster: folder -> Student.


# ---- What was handed in -----------------------------------------------------


def find(folder, chosen, roster):
    """Every hand-in that DIR could hold: of each student, each assignment that is asked for.

    Who is on the roster and handed nothing in is found, too."""
    if not folder.is_dir():
        raise Problem(f"DIR={folder}: there is no such folder")
    if any(os.path.lexists(folder / one.name) for one in chosen):
        students = [folder]
    else:
        there = {path.name: path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")}
        students = [folder / name for name in sorted({*there, *roster})]
    for student in students:
        for one in chosen:
            path = student / one.name / f"{one.op}.cu"
            if len(chosen) == 1 and not os.path.lexists(path.parent):
                path = student / f"{one.op}.cu"
            if len(chosen) == 1 or os.path.lexists(path.parent):
                yield HandIn(one, student.name, path)


def share_of(hand_ins):
    """Those that are this grader's, where several are at work."""
    given = os.environ.get("SHARE") or "1/1"
    which, _, count = given.partition("/")
    if not (which.isdecimal() and count.isdecimal() and 1 <= int(which) <= int(count)):
        raise Problem(f"SHARE={given}: write SHARE=3/10 for the third of ten graders")
    return hand_ins[int(which) - 1::int(count)]


def read_source(path):
    """(bytes, '') or (b'', what is wrong)."""
    if path.is_symlink() or path.parent.is_symlink():
        return b"", f"{path.name} is a link; hand in the file itself."
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


class Report:
    """What a judge wrote: lines of JSON, the last one perhaps cut."""

    def __init__(self, path):
        self.path = path

    def lines(self):
        with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8", errors="replace") as file:
            for line in file:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)


def judge_command(one, report, session_seed):
    command = [str(ROOT / BUILD / f"{one.op}.judge"), f"--report={report}"]
    command += [f"--case={n},{offset}" for n, offset in sorted({(b.case.n, b.case.offset) for b in one.bars})]
    environment = os.environ | {"CHECK_SEED": str(session_seed), "SIMT_SECONDS": str(SECONDS_ON_GPU)}
    return command, environment


def idle_checks(one, seed):
    """Check -> whether a function that does nothing passes it."""
    if one.op not in IDLE:
        IDLE[one.op] = judge_nobody(one, seed)
    return IDLE[one.op]


def judge_nobody(one, seed):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        command, environment = judge_command(one, report, seed)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        states = {line["check"]: line["state"] for line in Report(report).lines() if "check" in line}
    if not states or "begun" in states.values():
        raise Problem(f"the judge of {one.op} does not run to its end: {' '.join(command)}")
    return {check: state == "passed" for check, state in states.items() if state != "skipped"}


def excess_of(judge, report):
    """What a hand-in makes its judge take too much of, or ''."""
    if contain.resident(judge) > contain.MEMORY:
        return f"It made the judge take more than {contain.MEMORY >> 30} GB of memory."
    if report.is_file() and report.stat().st_size > MOST_REPORT:
        return f"It made the judge write more than {MOST_REPORT >> 20} MB."
    return ""


def headers_of(one):
    """What a hand-in may include: what chapters share, and what its exercise includes."""
    shared = {path.relative_to(ROOT) for path in (ROOT / "common").glob("*.h")}
    return shared | (handout.included([one.exercise]) - {one.exercise})


class Trial:
    """One hand-in, in its room, before its judges."""

    def __init__(self, session, hand_in, source, number):
        self.session, self.hand_in, self.source, self.number = session, hand_in, source, number
        self.one = hand_in.assignment
        self.file_name = f"{self.one.op}.cu"
        self.checks, self.findings, self.counts = {}, [], []
        self.trouble = ""  # Why it was stopped.
        self.heard = b""  # What its room has said.

    def run(self):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trial.")))
            folder.chmod(0o755)
            seen = self.lay_out(folder)
            room = stack.enter_context(
                contain.Room(self.session.contained, self.session.tools, self.number, seen))
            pairs = [socket.socketpair() for _ in range(TRIES)]
            for pair in pairs:
                for end in pair:
                    stack.callback(end.close)
            contract = seen[folder / "contract"]
            self.deadline = time.monotonic() + self.session.limit
            told = room.start([theirs.fileno() for _, theirs in pairs], {
                "COMPILE": f"{self.session.tools.compile} -I{contract}", "LINK": self.session.tools.link,
                "UNUSED": self.session.tools.unused,
                "SOURCE": seen[folder / self.file_name], "PARTS": f"{contract}/parts.o"})
            for _, theirs in pairs:
                theirs.close()
            stack.callback(os.close, told)
            self.wait_for_compiler(room, told)
            for number, (ours, _) in enumerate(pairs):
                if not self.compiled or self.trouble or not self.try_once(room, folder, number, ours, told):
                    break
            room.end()
            self.output = room.said()

    def lay_out(self, folder):
        """What the room holds: path -> where it is seen there."""
        contract, source = folder / "contract", folder / self.file_name
        for header in headers_of(self.one):
            (contract / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / header, contract / header)
        shutil.copy(ROOT / BUILD / f"{self.one.op}.parts", contract / "parts.o")
        source.write_bytes(self.source)
        for path in (*folder.rglob("*"), folder):
            path.chmod(0o755 if path.is_dir() else 0o644)
        if self.session.contained == "user":
            os.chown(folder, -1, contain.FIRST_USER + self.number)
            folder.chmod(0o750)  # The other hand-ins are other users.
        if self.session.contained in (contain.NO, "user"):
            return {contract: str(contract), source: str(source)}
        return {contract: "/contract", source: f"/{self.file_name}"}

    def watch(self, room):
        """What must end the trial now, or ''."""
        if time.monotonic() > self.deadline:
            return f"It took more than {self.session.limit} seconds."
        return room.excess()

    def wait_for_compiler(self, room, told):
        """Until the room has said a word, or nobody is left who could."""
        while not self.trouble and not self.hears(told, TICK):
            self.trouble = self.watch(room)

    @property
    def compiled(self):
        return self.heard.startswith(b"compiled")

    def hears(self, told, seconds):
        """Whether the room says something, or is gone, within so many seconds."""
        if not select.select([told], [], [], seconds)[0]:
            return False
        self.heard += os.read(told, 1 << 10)
        return True

    def try_once(self, room, folder, number, ours, told):
        """Runs the checks that no judge has begun; whether there is need of another try."""
        report = folder / f"report.{number}"
        command, environment = judge_command(self.one, report, self.session.seed)
        command += [f"--hand-in={ours.fileno()}", f"--dt-first={len(self.checks) + 1}"]
        with subprocess.Popen(command, env=environment, pass_fds=[ours.fileno()], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as judge:
            while judge.poll() is None and not self.trouble:
                self.trouble = self.watch(room) or excess_of(judge.pid, report)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    judge.wait(TICK)
                self.hears(told, 0)
                if self.heard.count(b"ended") > number:  # The room may still hold its end, so its judge waits.
                    ours.shutdown(socket.SHUT_RDWR)
            judge.kill()
        ours.close()
        return self.take(report)

    def take(self, report):
        """Adds what a judge wrote; whether it was cut short within a check."""
        whole, begun = False, len(self.checks)
        for line in Report(report).lines():
            if "check" in line:
                self.checks[line["check"]] = line
            elif "finding" in line:
                self.findings.append(line)
            elif "counters" in line:
                self.counts.append(line)
            whole = whole or "whole" in line
        return not whole and len(self.checks) > begun


def graded(session, hand_in, number):
    """The result of one hand-in."""
    begun = time.monotonic()
    source, message = read_source(hand_in.path)
    status, trial = ABSENT, None
    if source:
        trial = Trial(session, hand_in, source, number)
        trial.run()
        status, message = explain.outcome(trial)
    folder = contain.printable(hand_in.student.replace("\n", " "))
    student = session.students.get(hand_in.student, roster.Student(folder, folder, folder))
    idle = idle_checks(hand_in.assignment, session.seed)
    return Result(
        student.name, student.id, hand_in.assignment.name,
        contain.printable(str(hand_in.path.relative_to(session.hand_ins))),
        hashlib.sha256(source).hexdigest() if source else "", status, message,
        tuple(explain.checks(hand_in.assignment, idle, trial if status in (GRADED, STOPPED) else None)),
        session.seed, session.commit, session.compiler, session.executor, session.contained,
        round(time.monotonic() - begun, 2), explain.counters(trial) if trial else {})


# ---- All of them ------------------------------------------------------------


def said(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def commit():
    if "COMMIT" in os.environ:  # Of a copy without history, in an archive.
        return os.environ["COMMIT"]
    changed = "+" if said("git", "status", "--porcelain", "--untracked-files=no") else ""
    return (said("git", "rev-parse", "--short", "HEAD") or "unknown") + changed


def digest(folder):
    """Of all files of a folder and their names."""
    sum_ = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        sum_.update(str(path.relative_to(folder)).encode() + path.read_bytes())
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
        if not given.isdigit() or int(given) >= 1 << 31:
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


def limit():
    given = os.environ.get("LIMIT") or str(SECONDS)
    if not given.isdecimal() or int(given) == 0:
        raise Problem(f"LIMIT={given}: it is a number of seconds")
    return int(given)


def build_judges(ops):
    targets = [str(BUILD / f"{op}.{kind}") for op in sorted(ops) for kind in ("judge", "parts")]
    with built.alone(ROOT):
        done = built.make_aloud(ROOT, "cpu", "--silent", f"-j{os.cpu_count()}", *targets)
    if done.returncode:
        raise Problem("the judges could not be built: see above")


def is_done(hand_in, results, session):
    """Whether its result is there, of this very file, seed, grader and assignment."""
    path = hand_in.folder(results) / NAME
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        from_before = result.load(path)
        source, _ = read_source(hand_in.path)
        sha256 = hashlib.sha256(source).hexdigest() if source else ""
        return (from_before.sha256, from_before.seed, from_before.executor, from_before.commit) == (
            sha256, session.seed, session.executor, session.commit)
    return False


def grade_all(session, results, hand_ins):
    """Results in the order of the hand-ins; each is written as soon as it is there."""
    jobs = int(os.environ.get("JOBS") or os.cpu_count())
    rooms = queue.SimpleQueue()
    for number in range(jobs):
        rooms.put(number)
    told, begun, lock = collections.Counter(), time.monotonic(), threading.Lock()

    def one(hand_in):
        path = hand_in.folder(results) / NAME
        if not is_done(hand_in, results, session):
            number = rooms.get()
            try:
                text.write(path, graded(session, hand_in, number).json())
            finally:
                rooms.put(number)
            told["graded"] += 1
        made = result.load(path)
        with lock:
            told["all"] += 1
            rate = 60 * told["graded"] / (time.monotonic() - begun)
            print(f"{told['all']:5} of {len(hand_ins)}  {made.student[:24]:24} {made.assignment:10} "
                  f"{made.points:6.1f} of {made.of:g}  {made.status:12} {rate:5.1f} per minute", flush=True)
        return made

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, hand_ins))


def start(hand_ins, contained, students, seed):
    chosen_tools = tools()
    return Session(hand_ins, seed, commit(), compiler(chosen_tools),
                   digest(ROOT / "common/simt"), contain.choose(contained, chosen_tools), limit(), chosen_tools,
                   students)


def main(folder):
    name = os.environ.get("CHAPTER") or os.environ.get("TASK")
    chosen = [assignment.find(name)] if name else assignment.every()
    folder, results = pathlib.Path(folder), pathlib.Path(os.environ.get("RESULTS") or "results")
    students = roster.read(pathlib.Path(os.environ["ROSTER"])) if os.environ.get("ROSTER") else {}
    hand_ins = list(find(folder, chosen, students))
    if not hand_ins:
        raise Problem(f"{folder} holds no hand-in: NAME/{chosen[0].name}/{chosen[0].op}.cu would be one")
    if not (hand_ins := share_of(hand_ins)):
        print("There are fewer hand-ins than graders: nothing is left for this one.")
        return
    session = start(folder, os.environ.get("CONTAINED", ""), students, seed_of(results, folder))
    remember(results, session.seed, folder)
    build_judges({hand_in.assignment.op for hand_in in hand_ins})
    for one in {h.assignment.op: h.assignment for h in hand_ins}.values():
        idle_checks(one, session.seed)
    grade_all(session, results, hand_ins)
    graded_now = [hand_in.folder(results) / NAME for hand_in in hand_ins]
    print(terminal.of_results(formats.write_all(graded_now, results, students)), end="")
    print(f"Seed {session.seed}; everything is in {results}.")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Problem as problem:
        sys.exit(f"grade: {problem}")
    except KeyboardInterrupt:
        sys.exit("\ngrade: stopped. Call it again, and it goes on here.")
