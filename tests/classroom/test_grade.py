"""Hand-ins get the grades that they must, and hurt nobody: hand_ins/expected.txt. So do all of tests/wrong."""

import contextlib
import ctypes
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types

import pytest
import sample_results
import wrong

from harness import patches
from ladder import pages

from classroom import assignment, contain, explain, grade, result, trial
from classroom.result import CORRECTNESS, EFFICIENCY, SAFETY

FOLDER = pathlib.Path(__file__).resolve().parent / "hand_ins"
SHARED = FOLDER / "speak.h"
GRADES = ("full", "right", "slow", "wrong", "none")
ENDLESS, MADE, NONE = "endless", "made: ", "-"
SEED, JOBS = 5, 2
LIMIT = 60  # Seconds, on a busy machine.
SOON, AT_ONCE = 20, 6  # Those that never end take all seconds, and most of them only wait.
INTERRUPTIBLE = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # In the background, too.
SUBREAPER = 36  # prctl()'s number: who is orphaned becomes our child.
RACES = ("relu.copies.cu", "sum.race.cu", "relu.hides_findings.cu")  # Whose points might change from run to run.


@dataclasses.dataclass(frozen=True)
class Expected:
    assignment: str
    grade: str
    words: str
    is_endless: bool


def read_table(text):
    """Name -> Expected."""
    table = {}
    for one, name, grade, words in wrong.rows(text, "assignment | file | grade | words", 1):
        if grade not in GRADES:
            raise pages.Problem(f"expected.txt: {name}: {grade} is none of {', '.join(GRADES)}")
        mark, _, one = one.rpartition(" ")
        if mark not in (ENDLESS, ""):
            raise pages.Problem(f"expected.txt: {name}: {mark} is not {ENDLESS}")
        table[name] = Expected(one, grade, words, mark == ENDLESS)
    return table


TABLE = read_table((FOLDER / "expected.txt").read_text())


# ---- What git cannot hold -----------------------------------------------------


def latin_1(source):
    source.write_bytes("// Schön.\n".encode("latin-1") + (FOLDER / "relu.packs.cu").read_bytes())


def linked_folder(source):
    elsewhere = source.parent.with_name("elsewhere")
    source.parent.rename(elsewhere)
    shutil.copy(FOLDER / "relu.packs.cu", elsewhere / source.name)
    source.parent.symlink_to(elsewhere)


FILES = {
    "an empty file": lambda source: source.touch(),
    "a folder named so": lambda source: source.mkdir(),
    "nothing": lambda source: None,
    "a link to the solution": lambda source: source.symlink_to(assignment.find("03").solution),
    "a link to nothing": lambda source: source.symlink_to("/nowhere"),
    "a folder that is a link": linked_folder,
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
        student = os.fsdecode(STUDENTS.get(name.removeprefix(MADE), name.removeprefix(MADE).removesuffix(".cu")))
        path = self.hand_ins / student / one.name / f"{one.op}.cu"
        path.parent.mkdir(parents=True)
        self.files[name] = path.relative_to(self.hand_ins)
        if name.startswith(MADE):
            FILES.get(name.removeprefix(MADE), FILES["an empty file"])(path)
        else:
            path.write_text(self.filled_in((source or FOLDER / name).read_text()))

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


def test_compilers_are_seen_wherever_they_lie(contained):
    with tempfile.TemporaryDirectory(prefix="gcc.") as folder:
        compiler = pathlib.Path(folder) / "bin/g++"
        compiler.parent.mkdir()
        compiler.write_text('#!/bin/sh\nexec /usr/bin/g++ "$@"\n')
        for path in (compiler, *compiler.parents[:2]):
            path.chmod(0o755)
        with contain.Room(contained, contain.Tools(f"{compiler} -x c++", str(compiler), ()), 0, {}) as room:
            assert room.try_out() == ""


def test_a_compiler_that_a_room_does_not_show_is_no_fault_of_a_hand_in(contained):
    tools = contain.Tools("/nowhere/nvcc -O3", "g++", ())
    with pytest.raises(assignment.Problem, match="/nowhere/nvcc.* not found"):
        contain.choose(contained, tools)


def test_another_user_may_not_enter_what_is_secret(monkeypatch, tmp_path):
    secret = tmp_path / "results"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(contain, "may_enter", lambda user, folder: folder == secret)
    with pytest.raises(assignment.Problem, match=f"chmod go-rwx {secret}"):
        contain.choose("user", contain.Tools("true", "true", ()), tmp_path, secret)
    with pytest.raises(assignment.Problem, match="what is in /usr, /usr/course/hand-ins too"):
        contain.choose("", contain.Tools("true", "true", ()), pathlib.Path("/usr/course/hand-ins"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_can_be_entered_that_cannot_be_read():
    with tempfile.TemporaryDirectory() as folder:
        for mode, may in ((0o755, True), (0o711, True), (0o700, False)):
            os.chmod(folder, mode)
            assert contain.may_enter(contain.FIRST_USER, folder) == may


def test_graders_whose_hand_ins_are_the_same_users_wait_for_each_other():
    name, waits = f"\0{os.getpid()}.grader", "from classroom import contain; contain.wait_for_other_graders({!r}); print('begins')"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(name)
        second = subprocess.Popen([sys.executable, "-c", waits.format(name)], stdout=subprocess.PIPE, text=True)
        assert second.stdout.readline().startswith("Another grader is at work")
    assert second.communicate(timeout=30)[0] == "begins\n"


def test_no_judge_is_waited_for_when_the_grader_fails(monkeypatch, tmp_path):
    monkeypatch.setattr(trial, "judge_command", lambda *_: (["sh", "-c", "sleep 60"], {"PATH": os.environ["PATH"]}))
    monkeypatch.setattr(trial.Trial, "watch", lambda *_: 1 / 0)
    session = types.SimpleNamespace(seed=SEED, limit=LIMIT)
    tried = trial.Trial(session, grade.HandIn(assignment.find("03"), "ada", tmp_path), b"", 0)
    ours, theirs = socket.socketpair()
    begun = time.monotonic()
    with ours, theirs, pytest.raises(ZeroDivisionError):
        tried.try_once(None, tmp_path, 0, ours, -1)
    assert time.monotonic() - begun < 30


def test_whom_others_left_no_memory_is_graded_again_alone(monkeypatch, tmp_path):
    one, calls = assignment.find("03"), []

    def graded(session, hand_in, number):
        calls.append(hand_in.student)
        is_first = calls.count(hand_in.student) == 1
        stopped = {"greedy": True, "beside": is_first}.get(hand_in.student, False)
        return dataclasses.replace(sample_results.KIND, student=hand_in.student,
                                   message=f"{contain.OUT_OF_MEMORY} It said" * stopped)

    monkeypatch.setattr(grade, "graded", graded)
    hand_ins = [grade.HandIn(one, student, tmp_path) for student in ("beside", "before", "greedy")]
    grade.grade_all(None, tmp_path, hand_ins, 3)
    assert sorted(calls[:3]) == ["before", "beside", "greedy"] and calls[3:] == ["beside", "greedy"]
    assert [result.load(hand_in.folder(tmp_path) / grade.NAME).message for hand_in in hand_ins] == [
        "", "", f"{contain.OUT_OF_MEMORY} It said"]


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


def class_of(new_class, names, port=0):
    some = new_class()
    some.port = port
    for name in names:
        some.add(name, assignment.find(TABLE[name].assignment))
    return some


# ---- What is asked of results -------------------------------------------------


def lost(made):
    return [check for check in made.checks if check.points < check.of]


def grade_of(made):
    """The best that fits, and all others that do."""
    is_right = all(check.kind == EFFICIENCY for check in lost(made))
    return {"full": not lost(made), "right": is_right, "slow": is_right and bool(lost(made)),
            "wrong": not is_right, "none": made.points == 0}


def trouble_with(name, made):
    """Why a result is not what the table says, or None."""
    expected = TABLE[name]
    first = [f"{check.name}: {check.why}" for check in lost(made)][:1]
    told = "\n".join([made.status, made.message, *first])
    if not grade_of(made)[expected.grade]:
        return f"{name}: {made.points:g} of {made.of:g} points, not {expected.grade}: {told[:2000]}"
    if expected.words != NONE and expected.words not in told:
        return f"{name}: nothing says '{expected.words}': {told[:2000]}"
    return None


def check_all(graded):
    trouble = [trouble_with(name, made) for name, made in graded.items()]
    assert not any(trouble), "\n\n".join(filter(None, trouble))


def secrets(some):
    """Words of files that nothing in a room may see."""
    files = [assignment.find("03").solution, assignment.ROOT / "tests/relu_test.cpp", some.results / "session.json",
             some.hand_ins / "relu.packs" / "chapter03" / "relu.cu", pathlib.Path("/etc/passwd")]
    return [path.read_text().splitlines()[0] for path in files if path.is_file()]


def check_unseen(some, made):
    told = made.message + "".join(check.why for check in made.checks)
    assert not [secret for secret in secrets(some) if secret in told]


def check_nothing_is_left():
    """Of what forges_results and fills_disk write."""
    names = ("report", "report.0", "result.json", "session.json", "f0", "f63")
    assert not [path for folder in ("/", "/tmp", "/dev", "/dev/shm", "/var/tmp", "/run", assignment.ROOT)
                for path in (pathlib.Path(folder) / name for name in names) if path.exists()]


# ---- The tests ----------------------------------------------------------------


def test_table_names_each_file_and_nothing_else():
    assert {name for name in TABLE if not name.startswith(MADE)} == {path.name for path in FOLDER.glob("*.cu")}
    assert {name.removeprefix(MADE) for name in TABLE if name.startswith(MADE)} == FILES.keys() | STUDENTS.keys()


def test_table_refuses_what_it_cannot_read():
    for line in ("chapter03 | relu.cu | full", "soon chapter03 | relu.cu | full | -", "chapter03 | relu.cu | good | -",
                 "a | b | full | -\na | b | full | -"):
        with pytest.raises(pages.Problem):
            read_table(line)


@pytest.fixture(scope="module")
def ending(new_class):
    """All that end by themselves, graded: (the class, name -> result)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = [name for name, expected in TABLE.items() if not expected.is_endless]
        some = class_of(new_class, names, server.getsockname()[1])
        some.grade(LIMIT=LIMIT)
    return some, some.results_by_name()


def test_every_hand_in_gets_its_grade(ending):
    some, graded = ending
    check_all(graded)
    check_unseen(some, graded["relu.looks_around.cu"])
    assert ["race in relu_kernel" in check.why for check in graded["relu.hides_findings.cu"].checks
            if check.kind == SAFETY] == [True], "findings outlast the process that they are about"
    check_nothing_is_left()


def test_who_is_not_on_the_roster_is_named(new_class):
    some = new_class()
    for student in ("ada", "adda"):
        (some.hand_ins / student / "chapter03").mkdir(parents=True)
    roster = some.root / "roster.csv"
    roster.write_text("folder,name,id\nada,Ada Lovelace,al1815\n")
    assert "\nNot on the roster: adda.\n" in some.grade(CHAPTER="03", ROSTER=roster)


def test_ctrl_c_costs_nobody_points(new_class):
    some = class_of(new_class, ["relu.packs.cu", "relu.templates.cu"])
    assert "Call it again" in some.interrupt_grader()
    assert [result.load(path).points for path in some.written()] == [100]


def test_a_killed_grader_goes_on_and_what_is_graded_can_be_graded_again(new_class):
    some = class_of(new_class, ["relu.constant_table.cu", "relu.ignores_signals.cu"])
    some.rename("relu.constant_table.cu", STUDENTS["named in Latin-1"])
    before = some.kill_grader_at_the_second()
    assert [result.load(path).status for path in before] == ["graded"]

    (some.hand_ins / some.files["relu.ignores_signals.cu"]).write_text("")
    some.grade()
    now = some.written()
    assert now.keys() > before.keys()
    assert {path: now[path] for path in before} == before, "what was graded is not graded again"

    assert "2 of 2 are what they were." in some.grade(goal="regrade")
    (some.hand_ins / some.files["relu.constant_table.cu"]).write_text("void relu();\n")
    said = some.grade(goal="regrade")
    assert "1 of 2 are what they were." in said
    assert "status: graded, now not compiled" in said
    assert "relu handles every length: 4 of 4, now 0 of 4 (Nothing was run.)" in said
    assert some.written() == now, "regrading changes no result"


def test_what_never_ends_is_ended(new_class):
    some = class_of(new_class, [name for name, expected in TABLE.items() if expected.is_endless])
    some.grade(LIMIT=SOON, JOBS=AT_ONCE)
    graded = some.results_by_name()
    check_all(graded)
    check_nothing_is_left()
    assert {made.file for made in graded.values() if made.seconds > SOON + 15} == set()


def test_unshare_contains_as_well(new_class):
    some = class_of(new_class, [f"relu.{what}.cu" for what in (
        "packs", "looks_around", "forges_results", "kills", "daemon", "traces", "fills_disk", "reads_the_solution",
        "right_with_daemons")])
    some.grade(CONTAINED="unshare")
    graded = some.results_by_name()
    check_all(graded)
    check_unseen(some, graded["relu.looks_around.cu"])
    check_nothing_is_left()
    assert {made.contained for made in graded.values()} == {"unshare"}


def test_uncontained_the_same_is_seen_and_said_so(new_class):
    """Else what looks around might be blind."""
    some = class_of(new_class, ["relu.packs.cu", "relu.looks_around.cu"])
    some.grade(CONTAINED="no")
    made = some.results_by_name()["relu.looks_around.cu"]
    assert made.contained == "no"
    for secret in secrets(some):
        assert secret in made.message


def test_points_do_not_depend_on_the_seed_nor_on_the_run(new_class, ending):
    def points(names, seed):
        some = class_of(new_class, names)
        some.grade(seed)
        return {name: made.points for name, made in some.results_by_name().items()}

    names = [name for name, expected in TABLE.items() if expected.grade in ("full", "right", "slow")][::3]
    first = {name: made.points for name, made in ending[1].items()}
    assert points(names, SEED + 1) == {name: first[name] for name in names}
    again = [*names[:3], *RACES]
    assert points(again, SEED) == {name: first[name] for name in again}


# ---- tests/wrong ----------------------------------------------------------------


def rejected(made):
    """The contract's checks that failed by themselves."""
    return [check for check in lost(made) if check.kind == CORRECTNESS and check.why != explain.UNDONE and
            check.name != explain.COUNTED]


# Their host does what no hand-in's can: they end sooner.
HOST_WORKS = {"relu.host_function.cu", "relu.on_the_host.cu", "reverse.host_function.cu"}


def asked_for(op, source, headers):
    """The last assignment of the contract that may include what the source does; not each can be handed in."""
    included = set(map(pathlib.Path, re.findall(r'^#include "(.+)"$', source.read_text(), re.M)))
    return next((one for one, may in headers if one.op == op and included <= may), None)


def misjudged(name, expected, made):
    if name in HOST_WORKS:
        return f"{name}: its host does the work" if grade_of(made)["right"] else None
    if expected.check == wrong.RIGHT:
        return None if grade_of(made)["right"] else f"{name}: it keeps its contract, and was rejected"
    first = next((check.name for check in rejected(made)), wrong.NO_CHECK)
    if grade_of(made)["right"] or first != expected.check.removeprefix(wrong.EXECUTOR):
        return f"{name}: {made.points:g} points, rejected by '{first}', not by '{expected.check}'"
    return None


@pytest.mark.parametrize("half", [0, 1])  # Each has a turn of its own in .ci/run.
def test_wrong_kernels_lose_points_where_they_must(new_class, half):
    table = {name: expected for name, expected in wrong.read_table((wrong.FOLDER / "expected.txt").read_text()).items()
             if expected.finding != "passes"}
    some = new_class()
    sources = patches.sources(pages.ROOT, pytest.fail)
    headers = [(one, trial.headers_of(one)) for one in reversed(assignment.every())]
    asked = {name: one for name in table if (one := asked_for(name.split(".")[0], sources[name], headers))}
    names = [*asked][half::2]
    for name in names:
        some.add(name, asked[name], sources[name])
    some.grade()
    graded = some.results_by_name()
    trouble = [misjudged(name, table[name], graded[name]) for name in names]
    assert not any(trouble), "\n".join(filter(None, trouble))
