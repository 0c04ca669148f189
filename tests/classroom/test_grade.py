"""Hand-ins get the grades that they must, and hurt nobody: hand_ins/expected.txt."""

import dataclasses
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import types

import pytest
import sample_results
import wrong
from graded_class import FILES, FOLDER, MADE, SEED, STUDENTS, contained, grade_of, judges, lost, new_class  # noqa: F401
from harness import built
from ladder import pages

from classroom import assignment, contain, explain, grade, result, trial, workshop
from classroom.formats import text
from classroom.result import SAFETY

GRADES = ("full", "right", "slow", "wrong", "none")
ENDLESS, NONE = "endless", "-"
LIMIT = 60  # Seconds, on a busy machine.
SOON, AT_ONCE = 12, 6  # Those that never end take all seconds, and most of them only wait.
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


def test_a_grade_goes_by_no_setting_of_a_shell(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMT_CHECKS", "off")
    _, environment = trial.judge_command(assignment.find("03"), tmp_path, SEED)
    assert "SIMT_CHECKS" not in environment and environment["CHECK_SEED"] == str(SEED)


def test_a_result_is_kept_while_nothing_has_changed(tmp_path):
    made = dataclasses.replace(sample_results.KIND, sha256="", status=result.STOPPED, limit=60)
    hand_in = grade.HandIn(assignment.find("03"), "ada", tmp_path / "ada/chapter03/relu.cu")
    text.write(hand_in.folder(tmp_path) / grade.NAME, made.json())
    now = {word: getattr(made, word) for word in (*grade.SAME, "limit")} | {"hand_ins": tmp_path}
    assert grade.is_done(hand_in, tmp_path, types.SimpleNamespace(**now))
    for word in (*grade.SAME, "limit"):
        assert not grade.is_done(hand_in, tmp_path, types.SimpleNamespace(**now | {word: "another"})), word


def test_what_a_teacher_edits_is_another_commit_each_time(monkeypatch, tmp_path):
    monkeypatch.setattr(grade, "ROOT", tmp_path)
    (tmp_path / "chapters").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    seen = []
    for bars in ("a", "b", "c"):
        (tmp_path / "chapters/assignment.toml").write_text(bars)
        seen.append(grade.commit())
    assert len({*seen}) == 3 and {one.partition("+")[0] for one in seen} == {"unknown"}


def test_results_are_there_when_it_is_asked_who_may_read_them(monkeypatch, tmp_path):
    def choose(wanted, tools, hand_ins, results):
        assert results.is_dir()
        raise assignment.Problem("seen")

    for name, value in {"RESULTS": tmp_path / "results", "SEED": SEED, "CHAPTER": "03"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(grade, "tools", lambda: None)
    monkeypatch.setattr(contain, "choose", choose)
    (tmp_path / "ada").mkdir()
    with pytest.raises(assignment.Problem, match="seen"):
        grade.main(tmp_path)


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


def test_a_full_disk_costs_nobody_points(judges, tmp_path):
    (tmp_path / "report.0").symlink_to("/dev/full")
    session = types.SimpleNamespace(seed=SEED, limit=LIMIT)
    tried = trial.Trial(session, grade.HandIn(assignment.find("03"), "ada", tmp_path), b"", 0)
    tried.deadline, room = time.monotonic() + LIMIT, types.SimpleNamespace(excess=lambda: "")
    ours, theirs = socket.socketpair()
    told, say = os.pipe()
    os.close(say)
    theirs.send(struct.pack("II", 0, 0))  # It is ready.
    with ours, theirs, pytest.raises(assignment.Problem, match="is the disk full?"):
        tried.try_once(room, tmp_path, 0, ours, told)
    os.close(told)


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


def test_a_bar_names_what_is_counted(judges):
    one = assignment.find("03")
    bar = dataclasses.replace(one.bars[0], counter="lode requests")
    with pytest.raises(assignment.Problem, match="nothing is counted as 'lode requests'; there are .*, load requests, "):
        grade.idle_checks(dataclasses.replace(one, bars=(bar,)), SEED)


@pytest.mark.parametrize("kernel, launches, points, why", [
    ("", ["a"], 5, ""), ("", ["a", "b"], 5, ""), ("b", ["a", "b<4>"], 5, ""),
    ("", [], 0, "A kernel is launched 0 times"), ("b", ["a"], 0, "b is launched 0 times in this call; one launch counts."),
    ("b", ["b<4>", "b<8>"], 0, "b is launched 2 times"),
])
def test_a_bar_looks_at_launches(kernel, launches, points, why):
    bar = assignment.Bar("requests", assignment.Case(9), 5, "{value}", at_most="9", kernel=kernel)
    call = {"n": 9, "offset": 0, "counters": {"requests": 9}, "lines": []}
    counts = [*(call | {"launch": launch} for launch in launches), call]
    made = explain.efficiency(bar, types.SimpleNamespace(counts=counts, file_name=""))
    assert made.points == points and made.why.startswith(why)


def class_of(new_class, names, port=0):
    some = new_class()
    some.port = port
    for name in names:
        some.add(name, assignment.find(TABLE[name].assignment))
    return some


# ---- What is asked of results -------------------------------------------------


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
    assert {name for name in TABLE if not name.startswith(MADE) and "/" not in name} == {path.name for path in FOLDER.glob("*.cu")}
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


def test_the_seed_of_a_grade_draws_the_same_again(new_class):
    """In the sandbox, for one hand-in; and outside of it, for whoever looks closer."""
    some = class_of(new_class, ["relu.copies.cu", "relu.packs.cu"])
    some.grade()
    why = [check.why for check in some.results_by_name()["relu.copies.cu"].checks if " wrong\n" in check.why]
    said = some.grade(SEED + 1, "regrade", STUDENT="relu.copies", CHAPTER="03")
    assert "1 of 1 are what they were." in said and "relu.packs" not in said
    planted = workshop.plant("relu", (FOLDER / "relu.copies.cu").read_text())
    program, = workshop.build([planted]).values()
    closer = built.told([program, "--dt-reporters=console"], env=os.environ | {"CHECK_SEED": str(SEED)}).stdout
    assert len(why) > 10
    for line in why[0].splitlines() + why[-2].splitlines():
        assert line.strip() in said and line.strip() in closer, line


def test_who_is_not_on_the_roster_is_named_and_what_is_not_read(new_class):
    some = new_class()
    for folder in ("ada/chapter03", "adda/chapter03", "bob/chapter3"):
        (some.hand_ins / folder).mkdir(parents=True)
    roster = some.root / "roster.csv"
    roster.write_text("folder,name,id\nada,Ada Lovelace,al1815\n")
    said = some.grade(ROSTER=roster)
    assert "\nNot on the roster: adda.\nNothing that is asked for is in: bob.\n" in said
    for folder in ("ada", "ada/chapter03"):
        (some.hand_ins / folder / "relu.cu").touch()
    assert "\nOf two files the one in the folder of the assignment was graded: ada.\n" in some.grade(CHAPTER="03")
    (some.hand_ins / "chapter03").mkdir()
    with pytest.raises(AssertionError, match="holds chapter03, as one student's folder does, and a student, ada,"):
        some.grade()
    with pytest.raises(AssertionError, match="CHAPTER=03 and TASK=dot are two"):
        some.grade(CHAPTER="03", TASK="dot")


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
        "right_with_daemons", "system_v")])
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
