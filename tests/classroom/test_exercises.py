"""Each assignment is what it says: its exercise, hints, bars, questions and bugs; open tasks, too."""

import concurrent.futures
import difflib
import math
import os
import re
import subprocess

import pytest
import wrong
from harness import counted, patches
from ladder import counts, mutants, source, together, toolchain

from classroom import assignment, blanks, bugs, predict, workshop
from classroom.assignment import ROOT, Case, Problem

ASSIGNMENTS = assignment.every()
CHAPTERS = [task for task in ASSIGNMENTS if not task.is_open]
OPEN = [task for task in ASSIGNMENTS if task.is_open]
SLOW = sorted(ROOT.glob("tests/classroom/slow/*.cu"))
NAMES = ("Ada Lovelace", "Charles Babbage")
CLASS = 300  # Students.
ASKED = ("chapter03", "chapter08")  # Whose answers are worked out here, which takes long.

# Of an open task.
PARTS = ("{}.h", "{}_test.cpp", "{}_count.cpp", "{}.cu", "{}.exercise.cu", "README.md", assignment.NAME)
HEADINGS = ["The task", "The contract", "The bars"]
WORDS = range(100, 201)
COMMENT = re.compile(r"(?://.*\n)+")
MISSES = re.compile(r"Misses: (.*)\.")
SHARED = re.compile(r"^void (check_\w+)\(const Contract<Size>& contract\)", re.M)
CHAPTER = re.compile(r"^An open task of \[chapter (\d\d)\]", re.M)

each, each_chapter, each_open = (pytest.mark.parametrize("task", tasks, ids=lambda task: task.name)
                                 for tasks in (ASSIGNMENTS, CHAPTERS, OPEN))


def rivals(task):
    """Kernels that do the same, one at a higher cost: the chapter before and the first of its
    contract, or, of the first itself, its variants; and what is slow on purpose."""
    before = [other.solution for other in CHAPTERS if other.op == task.op and other.name < task.name]
    slow = [path for path in SLOW if together.op(path) == task.op]
    variants = set(task.folder.glob(f"{task.op}.*.cu")) - {task.exercise}
    return [*dict.fromkeys(before[-1:] + before[:1])] or sorted([*slow, *variants])


def at_once(function, *columns):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, *columns))


@pytest.fixture(scope="module")
def shipped():
    """Assignment's name -> the run of its exercise, as it is shipped, up to the first failure."""
    jobs = [(task.exercise, mutants.TO_THE_FIRST) for task in ASSIGNMENTS]
    runs = mutants.Workshop(ROOT, "cpu", [], [exercise for exercise, _ in jobs]).runs(jobs)
    return {task.name: runs[job] for task, job in zip(ASSIGNMENTS, jobs)}


@pytest.fixture(scope="module")
def programs():
    """Path of a solution or a rival -> what runs it. A chapter's is there, or will be wanted; those of an
    open task are built as one."""
    counts.built(ROOT, CHAPTERS[0].solution, ".counts")  # Of all chapters; others need it, too.
    alone = {path.relative_to(ROOT): path for task in CHAPTERS for path in (task.solution, *rivals(task))}
    built = {alone[path]: program for path, program in workshop.build(alone).items()}
    with toolchain.alone(ROOT):
        files = [path for task in OPEN for path in (task.solution, *rivals(task))]
        built |= together.build(ROOT, "cpu", together.gather(files, together.op), ".run")
    for path, program in built.items():
        assert not isinstance(program, str), f"{path} does not compile:\n{program}"
    return built


@pytest.fixture(scope="module")
def missed(programs, tmp_path_factory):
    """(assignment's name, its kernel) -> the bars that the kernel misses, and its values."""
    folder = tmp_path_factory.mktemp("counts")

    def usual(task, path):
        """What is counted once the checks have passed."""
        if not task.is_open:
            return workshop.recorded(programs[path])
        record = folder / path.name
        done = subprocess.run([programs[path], f"--record={record}"], cwd=ROOT, text=True, capture_output=True,
                              env=together.environment(ROOT, path), timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return counted.read(record)

    def missed_by(task, path):
        cases = usual(task, path)
        values = [(bar, workshop.counter(programs[path], bar, bar.case, cases)) for bar in task.bars]
        return [(bar, value) for bar, value in values if not bar.holds(value)]

    pairs = [(task, path) for task in ASSIGNMENTS for path in (task.solution, *rivals(task))]
    return {(task.name, path): found for (task, path), found in zip(pairs, at_once(missed_by, *zip(*pairs)))}


# ---- The exercise -----------------------------------------------------------


def test_there_is_one_for_each_chapter():
    folders = {path.name for path in ROOT.glob("chapters/[0-9][0-9]_*")}
    assert {task.folder.name for task in CHAPTERS} == folders


@each_chapter
def test_the_exercise_is_the_solution_without_the_blanks(task):
    text, solution = task.exercise.read_text(), task.solution.read_text()
    found, _ = blanks.split(text)
    answers = blanks.answers(text, solution)
    assert blanks.fill(text, answers) == solution
    assert sum(blank.most for blank in found) == task.lines
    assert all(map(blanks.code_lines, answers))  # How many at most, tests/layout.py says.
    for blank in found:
        assert len(blank.contract.split()) > 12, "a student works from the contract alone"


@each_open
def test_an_open_exercise_holds_no_line_of_the_solution(task):
    """But for what every file of the contract begins with, and the signatures."""
    solution, exercise = (source.without_comments(path.read_text()) for path in (task.solution, task.exercise))
    assert "__global__" in solution and "__global__" not in exercise and "<<<" not in exercise
    assert sum(bool(line.strip()) for line in solution.splitlines()) <= task.lines


@each
def test_as_shipped_it_fails_and_names_a_check(task, shipped):
    failed = shipped[task.name].failed_cases()
    assert failed and failed[0].startswith(f"{task.op} handles every size" if task.is_open else task.op), \
        shipped[task.name].tail()


# ---- What it is worth, and the hints ----------------------------------------


@each
def test_points_and_hints(task):
    assert task.points == 100 and task.bars
    assert len(set(task.hints)) in ((3, 4) if task.is_open else range(4, 100))
    assert not task.is_open or (task.correctness, task.safety) == (60, 20)
    assert all(bar.why.format(value=1, bar=2).endswith(".") for bar in task.bars)


@each_chapter
def test_a_hint_is_in_words(task):
    code = [line.strip() for answer in blanks.answers(task.exercise.read_text(), task.solution.read_text())
            for line in answer.splitlines() if len(line.split()) > 2]
    for hint in task.hints:
        assert not any(line in hint for line in code)


@each
def test_the_solution_reaches_every_bar(task, missed):
    assert missed[task.name, task.solution] == []


@each_chapter
def test_a_chapter_before_misses_a_bar(task, missed):
    sentences = [bar.told(value) for path in rivals(task) for bar, value in missed[task.name, path]]
    assert sentences, f"a kernel in tests/classroom/slow/ has to miss one: {task.op}.*.cu"
    for sentence in sentences:
        assert re.search(r"\d", sentence) and "{" not in sentence


@each_open
def test_what_is_slow_misses_the_bars_that_it_says_and_none_is_missed_by_nothing(task, missed):
    """What nothing misses would be points for nothing."""
    found = {path: [bar.counter for bar, _ in missed[task.name, path]] for path in rivals(task)}
    for path, counters in found.items():
        comment = COMMENT.match(path.read_text())[0].replace("//", "")
        assert sorted(counters) == sorted(MISSES.search(" ".join(comment.split()))[1].split(", ")), path.stem
    assert set(sum(found.values(), [])) == {bar.counter for bar in task.bars}


# ---- Questions --------------------------------------------------------------


@each_chapter
def test_questions_derive_from_the_name(task):
    assert 3 <= len(task.questions) <= 4
    sheets = [predict.sheet(task, name, "make it") for name in NAMES]
    bodies = [sheet.partition("\n\n")[2] for sheet in sheets]
    assert bodies[0] != bodies[1]
    assert predict.sheet(task, "ada  lovelace", "make it").partition("\n\n")[2] == bodies[0]
    different = math.prod(len(choices) for question in task.questions for choices in question.draw.values())
    assert math.comb(CLASS, 2) < different, "in a large class two sheets would be alike"
    for which, question in enumerate(task.questions):
        assert "{" not in bodies[0]
        numbers = predict.drawn(task, which, NAMES[0])
        assert (predict.edited(task, which, numbers) != task.solution.read_text()) == bool(question.edit)


@pytest.mark.parametrize("name", ASKED)
def test_answers_are_the_executors(name):
    task = assignment.find(name)
    asked = range(len(task.questions))
    ada, charles = at_once(lambda who: predict.right_answers(task, who, asked), NAMES)
    assert ada != charles
    answers = [ada[0], ada[1] + 1, None]
    sentences, right = predict.verdicts(task, NAMES[0], answers)
    assert right == 1
    assert [" right: " in sentences[0], "counts fewer than" in sentences[1], "open" in sentences[2]] == [True] * 3


def test_numbers_are_drawn_from_a_list_or_a_range():
    question = {"text": "{n}?", "counter": "load requests"}
    assert [*assignment.of(assignment.Question, question | {"draw": {"n": {"from": 64, "to": 256, "by": 64}}}).draw["n"]] == [
        64, 128, 192, 256]
    assert assignment.of(assignment.Question, question | {"draw": {"n": [64, 100]}}).draw == {"n": [64, 100]}
    for odd in ([], ["64"], 64, {"from": 64}, {"from": 1, "to": 2, "by": 0}, {"from": 1, "to": 2, "step": 1}, {"from": 2, "to": 1}):
        with pytest.raises(Problem, match="'n' is drawn from .*, or from {from = 64, to = 256, by = 64}, not "):
            assignment.of(assignment.Question, question | {"draw": {"n": odd}})
    with pytest.raises(Problem, match="'draw' is missing"):
        assignment.of(assignment.Question, question)


def test_a_counter_that_there_is_not_is_refused(programs):
    task = assignment.find("03")
    bar = assignment.Bar("sectors per request", Case(n=64), 1, "", at_most="1")
    with pytest.raises(Problem, match="nothing is counted as 'sectors per request'; there are launch__grid_size, "):
        workshop.missed([bar], programs[task.solution])


# ---- Bugs -------------------------------------------------------------------


def changed_lines(bug):
    """Of what a patch makes: what is new, and what stands beside something left out."""
    text, _ = patches.followed(ROOT, (bugs.WRONG / bug.file).with_suffix(".patch"))
    before, after = text.splitlines(), bugs.source(bug).splitlines()
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return {line for kind, _, _, first, last in changes if kind != "equal"
            for line in (range(first + 1, last + 1) if first < last else (first, first + 1))}


@each_chapter
def test_bugs_are_where_and_what_they_are_said_to_be(task):
    assert len(task.bugs) == 2
    expected = wrong.read_table((bugs.WRONG / "expected.txt").read_text())
    for bug in task.bugs:
        assert bug.file.startswith(f"{task.op}.")
        red = expected[bug.file]
        assert bug.finding in bug.choices and len(set(bug.choices)) == len(bug.choices)
        assert red.finding.startswith(bug.finding) if red.finding != "-" else red.check == bug.finding
        assert (bugs.WRONG / bug.file).is_file() or changed_lines(bug) & set(bug.lines), f"{bug.file} is wrong elsewhere"
        text = bugs.handed_out(bug)
        assert "purpose" not in text
        original = bugs.source(bug).splitlines()
        for line, before in zip(bugs.lines(bug), bug.lines, strict=True):
            shown = text.splitlines()[line - 1]
            assert shown == original[before - 1] and shown.strip() and not shown.lstrip().startswith("//")


# ---- Open tasks -------------------------------------------------------------


@each_open
def test_folder_and_page_are_whole(task):
    assert sorted(path.name for path in task.folder.iterdir()) == sorted(part.format(task.op) for part in PARTS)
    text = (task.folder / "README.md").read_text()
    assert re.findall(r"^## (.*)", text, re.M) == HEADINGS
    assert len(text.split()) in WORDS


@each_open
def test_suite_makes_every_check_that_contracts_share(task):
    shared = set(SHARED.findall((ROOT / "tests/every_contract.h").read_text()))
    suite = (task.folder / f"{task.op}_test.cpp").read_text()
    assert shared and not {check for check in shared if f"{{ {check}(" not in re.sub(r"\s+", " ", suite)}


def test_each_chapter_has_one_task_at_most():
    chapters = [CHAPTER.search((task.folder / "README.md").read_text())[1] for task in OPEN]
    assert len(chapters) >= 10 and len(set(chapters)) == len(chapters)
