"""Each assignment is what it says: its exercise, hints, bars, questions and bugs."""

import concurrent.futures
import difflib
import math
import os
import re

import pytest
import wrong
from harness import patches
from ladder import counts, mutants

from classroom import assignment, blanks, bugs, predict, workshop
from classroom.assignment import ROOT, Case, Problem

# A task's exercise has no blanks: test_tasks.py looks at those.
ASSIGNMENTS = [task for task in assignment.every() if not task.is_open]
CHAPTERS = [task for task in ASSIGNMENTS if task.name.startswith("chapter")]
NAMES = ("Ada Lovelace", "Charles Babbage")
CLASS = 300  # Students.
ASKED = ("chapter03", "chapter08")  # Whose answers are worked out here, which takes long.

each = pytest.mark.parametrize("task", ASSIGNMENTS, ids=lambda task: task.name)
each_chapter = pytest.mark.parametrize("task", CHAPTERS, ids=lambda task: task.name)


def rivals(task):
    """Kernels that do the same, one at a higher cost: the chapter before and the first of its
    contract, or, of the first itself, its variants and what is slow on purpose. Paths from the root."""
    before = [other.solution for other in CHAPTERS if other.op == task.op and other.name < task.name]
    slow = ROOT.glob(f"tests/classroom/slow/{task.op}.*.cu")
    variants = set(task.folder.glob(f"{task.op}.*.cu")) - {task.exercise}
    return [path.relative_to(ROOT) for path in dict.fromkeys(before[-1:] + before[:1]) or sorted([*slow, *variants])]


@pytest.fixture(scope="module")
def programs():
    """Path from the root of a solution or a rival -> its program; all are built by one make."""
    built = workshop.build([*(task.solution.relative_to(ROOT) for task in ASSIGNMENTS),
                            *(path for task in CHAPTERS for path in rivals(task))])
    for path, program in built.items():
        assert not isinstance(program, str), f"{path} does not compile:\n{program}"
    return built


def at_once(function, *columns):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, *columns))


@pytest.fixture(scope="module")
def shipped():
    """Assignment's name -> the run of its exercise, as it is shipped, up to the first failure."""
    jobs = [(task.exercise, "--dt-abort-after=1") for task in ASSIGNMENTS]
    runs = mutants.Workshop(ROOT, "cpu", [], [exercise for exercise, _ in jobs]).runs(jobs)
    return {task.name: runs[job] for task, job in zip(ASSIGNMENTS, jobs)}


@pytest.fixture(scope="module")
def missed(programs):
    """(assignment's name, its kernel) -> a sentence for each bar that the kernel misses."""
    counts.built(ROOT, CHAPTERS[0].solution, ".counts")  # Of all chapters; others need it, too.
    pairs = [(task, task.solution.relative_to(ROOT)) for task in ASSIGNMENTS]
    pairs += [(task, path) for task in CHAPTERS for path in rivals(task)]
    sentences = at_once(lambda task, path: workshop.missed(task.bars, programs[path]), *zip(*pairs))
    return {(task.name, path): found for (task, path), found in zip(pairs, sentences)}


# ---- The exercise -----------------------------------------------------------


def test_there_is_one_for_each_chapter():
    folders = {path.name for path in ROOT.glob("chapters/[0-9][0-9]_*")}
    assert {task.folder.name for task in CHAPTERS} == folders


@each
def test_the_exercise_is_the_solution_without_the_blanks(task):
    text, solution = task.exercise.read_text(), task.solution.read_text()
    found, _ = blanks.split(text)
    answers = blanks.answers(text, solution)
    assert blanks.fill(text, answers) == solution
    assert sum(blank.most for blank in found) == task.lines
    assert all(map(blanks.code_lines, answers))  # How many at most, tests/layout.py says.
    for blank in found:
        assert len(blank.contract.split()) > 12, "a student works from the contract alone"


@each
def test_as_shipped_it_fails_and_names_a_check(task, shipped):
    failed = shipped[task.name].failed_cases()
    assert failed and failed[0].startswith(task.op), shipped[task.name].tail()


# ---- What it is worth, and the hints ----------------------------------------


@each
def test_points_and_hints(task):
    assert task.points == 100
    assert len(set(task.hints)) >= 4
    code = [line.strip() for answer in blanks.answers(task.exercise.read_text(), task.solution.read_text())
            for line in answer.splitlines() if len(line.split()) > 2]
    for hint in task.hints:
        assert not any(line in hint for line in code), "a hint is in words"


@each
def test_the_solution_reaches_every_bar(task, missed):
    assert missed[task.name, task.solution.relative_to(ROOT)] == []


@each_chapter
def test_a_chapter_before_misses_a_bar(task, missed):
    sentences = [sentence for path in rivals(task) for sentence in missed[task.name, path]]
    assert sentences, f"a kernel in tests/classroom/slow/ has to miss one: {task.op}.*.cu"
    for sentence in sentences:
        assert re.search(r"\d", sentence) and "{" not in sentence


# ---- Questions --------------------------------------------------------------


@each
def test_questions_derive_from_the_name(task):
    assert 3 <= len(task.questions) <= 4 or task not in CHAPTERS
    sheets = [predict.sheet(task, name, "make it") for name in NAMES]
    bodies = [sheet.partition("\n\n")[2] for sheet in sheets]
    assert bodies[0] != bodies[1] or not task.questions
    assert predict.sheet(task, "ada  lovelace", "make it").partition("\n\n")[2] == bodies[0]
    different = math.prod(len(choices) for question in task.questions for choices in question.draw.values())
    assert not task.questions or math.comb(CLASS, 2) < different, "in a large class two sheets would be alike"
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
    assert [*assignment.question_of(question | {"draw": {"n": {"from": 64, "to": 256, "by": 64}}}).draw["n"]] == [
        64, 128, 192, 256]
    assert assignment.question_of(question | {"draw": {"n": [64, 100]}}).draw == {"n": [64, 100]}
    for odd in ({"from": 64}, {"from": 1, "to": 2, "by": 0}, {"from": 1, "to": 2, "step": 1}, {"from": 2, "to": 1}):
        with pytest.raises(Problem, match="a range is {from = 64, to = 256, by = 64}"):
            assignment.question_of(question | {"draw": {"n": odd}})
    with pytest.raises(Problem, match="'draw' is missing"):
        assignment.question_of(question)


def test_a_counter_that_there_is_not_is_refused(programs):
    task = assignment.find("03")
    bar = assignment.Bar("sectors per request", Case(n=64), 1, "", at_most="1")
    with pytest.raises(Problem, match="nothing is counted as 'sectors per request'; there are launch__grid_size, "):
        workshop.missed([bar], programs[task.solution.relative_to(ROOT)])


# ---- Bugs -------------------------------------------------------------------


def changed_lines(bug):
    """Of what a patch makes: what is new, and what stands beside something left out."""
    text, _ = patches.followed(ROOT, (bugs.WRONG / bug.file).with_suffix(".patch"))
    before, after = text.splitlines(), bugs.source(bug).splitlines()
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return {line for kind, _, _, first, last in changes if kind != "equal"
            for line in (range(first + 1, last + 1) if first < last else (first, first + 1))}


@each
def test_bugs_are_where_and_what_they_are_said_to_be(task):
    assert len(task.bugs) == 2 or task not in CHAPTERS
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
