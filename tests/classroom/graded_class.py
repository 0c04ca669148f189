"""A class of hand-ins, as tests have it graded, and what they ask of its results."""

import contextlib
import ctypes
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from classroom import assignment, contain, grade, result
from classroom.result import EFFICIENCY

FOLDER = pathlib.Path(__file__).resolve().parent / "hand_ins"
SHARED = FOLDER / "speak.h"
MADE = "made: "
SEED, JOBS = 5, 2
INTERRUPTIBLE = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # In the background, too.
SUBREAPER = 36  # prctl()'s number: who is orphaned becomes our child.


# ---- What git cannot hold -----------------------------------------------------


def latin_1(source):
    source.write_bytes("// Schön.\n".encode("latin-1") + (FOLDER / "relu.packs.cu").read_bytes())


def link_to(folder, elsewhere, source):
    """Another student's work, as one's own."""
    shutil.copy(FOLDER / "relu.packs.cu", source)
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


FILES = {
    "an empty file": lambda source: source.touch(),
    "a folder named so": lambda source: source.mkdir(),
    "nothing": lambda source: None,
    "a link to the solution": lambda source: source.symlink_to(assignment.find("03").solution),
    "a link to nothing": lambda source: source.symlink_to("/nowhere"),
    "a folder that is a link": lambda source: link_to(source.parent, source.parent.with_name("elsewhere"), source),
    "a student who is a link": lambda source: link_to(source.parents[1], source.parents[2].with_name("elsewhere"), source),
    "a pipe": os.mkfifo,
    "50 MB of source": lambda source: source.write_bytes(b"int i;\n" * (50 << 20 >> 3)),
    "noise": lambda source: source.write_bytes(bytes(range(256)) * 16),
    "Latin-1 in a comment": latin_1,
}
STUDENTS = {
    "named $(touch x)": b"$(touch x)",
    "named a; rm -rf b": b"a; rm -rf b",
    "named with a new line": b"a\nb",
    "named -rf": b"-rf",
    "named in Latin-1": "Jürgen".encode("latin-1"),
    "named session.json": b"session.json",
    "named to move a cursor": b"\x1b[2J\x07",
}


# ---- A class of hand-ins ------------------------------------------------------


class Class:
    """A folder of hand-ins, graded in one run: name -> its result."""

    def __init__(self, root):
        self.root, self.hand_ins, self.results = root, root / "hand_ins", root / "results"
        self.port = 0  # Of somebody who listens.
        self.files = {}  # Name -> the hand-in, relative to the folder.

    def add(self, name, one, source=None):
        """A file of `source`, or of what the table calls by that name."""
        what = name.removeprefix(MADE)
        student = os.fsdecode(STUDENTS.get(what, what.removesuffix(".cu").replace("/", " ")))
        path = self.hand_ins / student / one.name / f"{one.op}.cu"
        path.parent.mkdir(parents=True)
        self.files[name] = path.relative_to(self.hand_ins)
        if name.startswith(MADE):
            FILES.get(what, FILES["an empty file"])(path)
        else:
            path.write_text(self.filled_in((source or (assignment.ROOT if "/" in name else FOLDER) / name).read_text()))

    def rename(self, name, student):
        """The student who handed that in."""
        here, *below = self.files[name].parts
        os.rename(self.hand_ins / here, self.hand_ins / os.fsdecode(student))
        self.files[name] = pathlib.Path(os.fsdecode(student), *below)

    def filled_in(self, text):
        """With what it shares with others, and the places that a hostile one would guess."""
        text = text.replace(f'#include "{SHARED.name}"\n', SHARED.read_text().replace("#pragma once\n", ""))
        for word, value in (("ROOT", assignment.ROOT), ("RESULTS", self.results), ("HAND_INS", self.hand_ins),
                            ("PORT", self.port)):
            text = text.replace(f"@{word}@", str(value))
        return text

    @property
    def rooms(self):
        return self.root / "rooms"

    def grader(self, goal, **settings):
        """It, at work."""
        self.rooms.mkdir(exist_ok=True)
        environment = os.environ | {"TMPDIR": str(self.rooms)}
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
            environment.pop(name, None)
        words = {"BACKEND": "cpu", "DIR": self.hand_ins, "RESULTS": self.results, "JOBS": JOBS} | settings
        return subprocess.Popen(["make", goal, *(f"{name}={value}" for name, value in words.items())],
                                cwd=assignment.ROOT, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                preexec_fn=INTERRUPTIBLE)

    def grade(self, seed=SEED, goal="grade", **settings):
        """What the grader said."""
        with orphans_are_ours():
            grader = self.grader(goal, SEED=seed, **settings)
            said, _ = grader.communicate()
            left = outliving()
        assert grader.returncode == 0, said
        assert not left, f"processes outlive the grader: {[named(pid) for pid in left]}"
        assert not list(self.rooms.iterdir()), "rooms are left"
        return said

    def kill_grader_at_the_second(self):
        """What was graded by then: file -> when it was written."""
        with orphans_are_ours():
            grader = self.grader("grade", SEED=SEED, JOBS=1)
            while grader.poll() is None and not (self.written() and self.is_judging()):
                time.sleep(0.05)
            time.sleep(1)  # Until the call has come to the hand-in.
            os.killpg(grader.pid, signal.SIGKILL)
            grader.communicate()
            left = outliving()
        assert not left, f"processes outlive the grader: {[named(pid) for pid in left]}"
        shutil.rmtree(self.rooms)
        return self.written()

    def interrupt_grader(self):
        """As Ctrl-C does, while it judges: what it said."""
        grader = self.grader("grade", SEED=SEED, JOBS=1)
        while grader.poll() is None and not self.is_judging():
            time.sleep(0.01)
        os.killpg(grader.pid, signal.SIGINT)
        return grader.communicate()[0]

    def is_judging(self):
        """Whether a hand-in is called just now."""
        with contextlib.suppress(FileNotFoundError):
            return any('"begun"' in report.read_text() for report in self.rooms.glob("trial.*/report.*"))
        return False

    def written(self):
        return {path: path.stat().st_mtime_ns for path in self.results.glob(f"*/*/{grade.NAME}")}

    def results_by_name(self):
        made = self.written()
        assert len(made) == len(self.files), "each hand-in has one result, and there are no others"
        by_file = {one.file: one for one in map(result.load, made)}
        return {name: by_file[str(path)] for name, path in self.files.items()}


class orphans_are_ours:
    """Whoever outlives its parent can be found among our children."""

    def __enter__(self):
        ctypes.CDLL(None).prctl(SUBREAPER, 1)

    def __exit__(self, *_):
        ctypes.CDLL(None).prctl(SUBREAPER, 0)


def outliving():
    """Processes of ours that do not end; what has ended is reaped."""
    deadline = time.monotonic() + 5
    while True:
        for pid in children():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not (left := children()) or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def children():
    return list(contain.descendants(os.getpid()))[1:]


def named(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


# ---- Where it is graded ------------------------------------------------------


@pytest.fixture(scope="module")
def contained():
    """The container that works here; without one nothing hostile is run."""
    tools = contain.Tools("true", "true", ())
    for name in ("bubblewrap", "unshare"):
        with contain.Room(name, tools, 0, {}) as room:
            if not room.try_out():
                return name
    print("\nNo hand-in is graded: neither bubblewrap nor unshare works here.", flush=True)
    pytest.skip("neither bubblewrap nor unshare works here")


@pytest.fixture(scope="module")
def judges(contained):
    """Of every assignment; built while nobody else builds."""
    grade.build_judges({one.op for one in assignment.every()})


@pytest.fixture(scope="module")
def new_class(judges):
    """Classes, in folders that whoever root becomes can enter."""
    made = []

    def make():
        made.append(pathlib.Path(tempfile.mkdtemp(prefix="class.")))
        made[-1].chmod(0o755)
        return Class(made[-1])

    yield make
    for folder in made:
        shutil.rmtree(folder)


# ---- What is asked of results -------------------------------------------------


def lost(made):
    return [check for check in made.checks if check.points < check.of]


def grade_of(made):
    """The best that fits, and all others that do."""
    is_right = all(check.kind == EFFICIENCY for check in lost(made))
    return {"full": not lost(made), "right": is_right, "slow": is_right and bool(lost(made)),
            "wrong": not is_right, "none": made.points == 0}
