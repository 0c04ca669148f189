"""The open tasks: their solutions reach every bar, what is slow misses those that it says,
and the exercises compile and fail as shipped."""

import concurrent.futures
import os
import re
import subprocess

import pytest
from classroom import assignment
from ladder import counts, pages, source, together, toolchain
from ladder.counts import Case

ROOT = pages.ROOT
TASKS = {task.op: task for task in assignment.every() if task.folder.parent == ROOT / together.TASKS}
SLOW = sorted(path for path in ROOT.glob("tests/classroom/slow/*.cu") if together.op(path) in TASKS)
PARTS = ("{}.h", "{}_test.cpp", "{}_count.cpp", "{}.cu", "{}.exercise.cu", "README.md", assignment.NAME)
HEADINGS = ["The task", "The contract", "The bars"]
WORDS = range(100, 201)
COMMENT = re.compile(r"(?://.*\n)+")
MISSES = re.compile(r"Misses: (.*)\.")
SHARED = re.compile(r"^void (check_\w+)\(const Contract<Size>& contract\)", re.M)
CHAPTER = re.compile(r"^An open task of \[chapter (\d\d)\]", re.M)


def each(values):
    return pytest.mark.parametrize("op", values)


@pytest.fixture(scope="module")
def programs():
    """File -> what runs it: make builds those of all tasks at once."""
    files = [*SLOW, *(path for task in TASKS.values() for path in (task.solution, task.exercise))]
    with toolchain.alone(ROOT):
        return together.build(ROOT, "cpu", together.gather(files, together.op), ".run")


@pytest.fixture(scope="module")
def runs(programs, tmp_path_factory):
    """File -> (what its run was, a file with what it counted)."""
    folder = tmp_path_factory.mktemp("counts")
    exercises = [task.exercise for task in TASKS.values()]

    def run(path):
        assert not isinstance(programs[path], str), f"{path.name} does not compile:\n{programs[path]}"
        record = folder / path.name
        # A failure of the exercise is known by the first check.
        first = ["--dt-abort-after=1"] if path in exercises else []
        done = subprocess.run([programs[path], f"--record={record}", *first], cwd=ROOT, text=True, capture_output=True,
                              env=together.environment(ROOT, path), timeout=300)
        return done, record

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(programs, pool.map(run, programs)))


def missed(path, runs):
    """The counters whose bars a file misses; it must have passed its suite."""
    done, record = runs[path]
    assert done.returncode == 0, done.stdout + done.stderr
    counted = counts.read(record)
    bars = TASKS[together.op(path)].bars
    return [bar.counter for bar in bars
            if not bar.holds(counted[Case(bar.case.n, bar.case.offset)].row(bar.counter).value)]


@each(TASKS)
def test_solution_passes_its_suite_and_reaches_every_bar(op, runs):
    assert missed(TASKS[op].solution, runs) == []


@pytest.mark.parametrize("path", SLOW, ids=lambda path: path.stem)
def test_what_is_slow_misses_the_bars_that_it_says(path, runs):
    comment = COMMENT.match(path.read_text())[0].replace("//", "")
    said = MISSES.search(" ".join(comment.split()))[1].split(", ")
    assert sorted(missed(path, runs)) == sorted(said)


@each(TASKS)
def test_each_bar_is_missed_by_something_slow(op, runs):
    """What nothing misses would be points for nothing."""
    kin = [path for path in SLOW if together.op(path) == op]
    assert {name for path in kin for name in missed(path, runs)} == {bar.counter for bar in TASKS[op].bars}


@each(TASKS)
def test_exercise_compiles_and_fails_as_shipped(op, runs):
    done, _ = runs[TASKS[op].exercise]
    assert done.returncode != 0
    assert f"FAILED: {op} handles every size" in done.stdout


@each(TASKS)
def test_exercise_holds_no_line_of_the_solution(op):
    """But for what every file of the contract begins with, and the signatures."""
    solution, exercise = (source.without_comments(path.read_text()) for path in
                          (TASKS[op].solution, TASKS[op].exercise))
    assert "__global__" in solution and "__global__" not in exercise and "<<<" not in exercise


@each(TASKS)
def test_solution_keeps_to_the_budget(op):
    lines = source.without_comments(TASKS[op].solution.read_text()).splitlines()
    assert sum(bool(line.strip()) for line in lines) <= TASKS[op].lines


@each(TASKS)
def test_folder_is_whole(op):
    assert sorted(path.name for path in TASKS[op].folder.iterdir()) == sorted(part.format(op) for part in PARTS)


@each(TASKS)
def test_suite_makes_every_check_that_contracts_share(op):
    shared = set(SHARED.findall((ROOT / "tests/every_contract.h").read_text()))
    suite = (TASKS[op].folder / f"{op}_test.cpp").read_text()
    assert shared and not {check for check in shared if f"{{ {check}(" not in re.sub(r"\s+", " ", suite)}


@each(TASKS)
def test_assignment_is_worth_a_hundred_points(op):
    task = TASKS[op]
    assert (task.correctness, task.safety, task.points) == (60, 20, 100)
    assert len(task.hints) in (3, 4) and task.bars
    assert all(bar.why.format(value=1, bar=2).endswith(".") for bar in task.bars)


@each(TASKS)
def test_page_has_its_parts(op):
    text = (TASKS[op].folder / "README.md").read_text()
    assert re.findall(r"^## (.*)", text, re.M) == HEADINGS
    assert len(text.split()) in WORDS
    assert CHAPTER.search(text)


def test_each_chapter_has_one_task_at_most():
    chapters = [CHAPTER.search((task.folder / "README.md").read_text())[1] for task in TASKS.values()]
    assert len(chapters) >= 10 and len(set(chapters)) == len(chapters)
