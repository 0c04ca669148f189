"""What an assignment asks for and what it is worth: `assignment.toml` beside its files.

A teacher edits that file; docs/teaching.md explains each of its words.
"""

import contextlib
import dataclasses
import functools
import math
import os
import pathlib
import re
import typing

try:
    import tomllib
except ImportError:  # Python 3.10.
    import tomli as tomllib

from harness import Problem, calculated

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "assignment.toml"
TASKS = pathlib.Path("common/classroom/tasks")
WRONG = ROOT / "tests/wrong"
IN_BRACES = re.compile(r"\{(\w+)\}")
CALLS = {"n", "offset"}  # What is drawn for a call; other numbers are drawn for an edit.
Texts, Numbers, Draw = tuple[str, ...], tuple[int, ...], dict
# What each word may hold. No number is below 0.
TOLD = {str: "a text in quotes", float: "a number from 0 on", int: "a whole number from 0 on", Draw: "a table",
        Texts: "a list of texts in quotes", Numbers: "a list of whole numbers"}


def is_yes(setting, usual="no"):
    given = os.environ.get(setting) or usual
    if given not in ("yes", "no"):
        raise Problem(f"{setting}={given}: it is yes or no")
    return given == "yes"


def as_text(number):
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}"


@dataclasses.dataclass(frozen=True)
class Points:
    """Of what is no bar."""
    correctness: float
    safety: float


@dataclasses.dataclass(frozen=True)
class Case:
    """A call on n elements, in arrays that begin `offset` elements past an aligned address."""
    n: int
    offset: int = 0


@dataclasses.dataclass(frozen=True)
class Bar:
    """What a counter of one call has to reach."""
    counter: str  # A row of ./run's table, or ncu's name of a metric.
    case: Case
    points: float
    why: str  # A sentence; {value} and {bar} stand for the numbers.
    at_most: str = ""  # Formulas over n.
    at_least: str = ""
    kernel: str = ""  # Whose launches count; '': all of the call.

    def number(self):
        return calculated(self.at_most or self.at_least, n=self.case.n)

    def holds(self, value):
        return value <= self.number() if self.at_most else value >= self.number()

    def told(self, value):
        """Why a value is not enough."""
        return self.why.format(value=as_text(value), bar=as_text(self.number()))

    def __post_init__(self):
        if bool(self.at_most) == bool(self.at_least):
            raise Problem(f"bar: '{self.counter}' needs either at_most or at_least")
        try:
            self.told(self.number())
        except (LookupError, ValueError, AttributeError) as error:
            raise Problem(f"bar: why: there is no {error}; it takes {{value}} and {{bar}}") from error


@dataclasses.dataclass(frozen=True, eq=False)  # Equal to itself alone: a dict has no hash.
class Question:
    """To be answered before running; {n}, {offset}, {block}, ... are drawn for each student."""
    text: str
    counter: str  # As of a Bar: the executor gives the answer.
    draw: Draw  # Name -> the numbers to draw from, in order; n and offset are the call's.
    edit: str = ""  # 'old -> new' in the solution, with {names}: what else the numbers change.
    kernel: str = ""
    within: float = 0.005  # Of the right answer, relatively.

    def __post_init__(self):
        used = {*IN_BRACES.findall(self.edit), *CALLS}
        if "n" not in self.draw:
            raise Problem("question: draw: 'n' is missing")
        if unused := sorted(self.draw.keys() - used):
            raise Problem(f"question: draw: nothing uses '{unused[0]}'; edit takes {{{unused[0]}}}")
        if undrawn := sorted({*IN_BRACES.findall(self.text)} - self.draw.keys()):
            raise Problem(f"question: text: {{{undrawn[0]}}} is not drawn; there are {', '.join(self.draw)}")


@dataclasses.dataclass(frozen=True)
class Bug:
    """A wrong kernel: the student says on which line, what finds it, and why."""
    file: str  # Below tests/wrong.
    lines: Numbers  # Where the bug is: any of them is right.
    finding: str  # One of `choices`.
    choices: Texts
    why: str  # Shown when both are right.

    def __post_init__(self):
        if self.finding not in self.choices:
            raise Problem(f"bug: '{self.finding}' is none of its choices: {', '.join(self.choices)}")
        if not any((WRONG / self.file).with_suffix(kind).is_file() for kind in (".cu", ".patch")):
            raise Problem(f"bug: there is no {self.file} in tests/wrong")


@dataclasses.dataclass(frozen=True)
class Words:
    """The words of the file."""
    op: str
    lines: int  # Budget for the blanks.
    hints: Texts
    points: Points
    bar: tuple[Bar, ...] = ()
    question: tuple[Question, ...] = ()
    bug: tuple[Bug, ...] = ()


@dataclasses.dataclass(frozen=True)
class Assignment:
    folder: pathlib.Path  # Of the chapter or the task.
    op: str
    lines: int
    hints: Texts
    correctness: float  # Points.
    safety: float
    bars: tuple
    questions: tuple = ()
    bugs: tuple = ()

    @property
    def is_open(self):
        """An open task: its exercise has no blanks."""
        return self.folder.parent.name != "chapters"

    @property
    def name(self):
        """chapter07, or the task's operation."""
        return self.op if self.is_open else f"chapter{self.folder.name[:2]}"

    @property
    def solution(self):
        return self.folder / f"{self.op}.cu"

    @property
    def exercise(self):
        return self.folder / f"{self.op}.exercise.cu"

    @property
    def points(self):
        return self.correctness + self.safety + sum(bar.points for bar in self.bars)


def of(kind, table):
    """An object of a dataclass from a table of the file; other words, missing ones and other values are refused."""
    name, fields = kind.__name__.lower(), {field.name: field for field in dataclasses.fields(kind)}
    only(fields, table, name)
    for word, field in fields.items():
        if word not in table and field.default is dataclasses.MISSING:
            raise Problem(f"{name}: '{word}' is missing")
    return kind(**{word: made(fields[word].type, value, f"{name}: '{word}'") for word, value in table.items()})


def only(words, table, where):
    """A misspelt word would be one that nobody reads."""
    if unknown := [word for word in table if word not in words] if isinstance(table, dict) else [table]:
        raise Problem(f"{where}: there is no '{unknown[0]}'; it takes {', '.join(words)}")


def made(kind, value, what):
    """Of what stands behind a word."""
    if dataclasses.is_dataclass(kind):
        return of(kind, value)
    if kind is Draw and isinstance(value, dict):
        return {word: drawn_from(word, given) for word, given in value.items()}
    if typing.get_origin(kind) is tuple and isinstance(value, list):
        return tuple(made(typing.get_args(kind)[0], one, what) for one in value)
    is_number = kind in (int, float) and isinstance(value, (int, kind)) and not isinstance(value, bool)
    if is_number and 0 <= value < math.inf or kind is str and isinstance(value, str):
        return value
    raise Problem(f"{what} is {TOLD.get(kind, 'a list, in which [[ ]] begins each')}, not {value!r}")


def drawn_from(name, given):
    """A list, or {from = 64, to = 256, by = 64}: all numbers of which the last may be `to`."""
    with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError, Problem):
        is_list = isinstance(given, list) or given.keys() - {"from", "to", "by"}
        numbers = given if is_list else range(given["from"], given["to"] + 1, given.get("by", 1))
        if numbers and made(Numbers, [*numbers], ""):
            return numbers
    raise Problem(f"question: '{name}' is drawn from [64, 128], or from {{from = 64, to = 256, by = 64}}, not {given}")


def filled_in(path):
    """What a person has written into a file, on Windows perhaps, where one may begin with a mark."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}") from error


def named_in(one):
    """What an assignment names has to be there."""
    if not one.exercise.is_file():
        raise Problem(f"op: there is no {one.exercise.name} beside it")
    files = [path for path in (one.exercise, one.solution) if path.is_file()]  # A copy has a student's for the solution.
    there = "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    for kernel in (wanted.kernel for wanted in (*one.bars, *one.questions)):
        if not re.search(rf"\b{re.escape(kernel)}\b", there):
            raise Problem(f"kernel: there is no {kernel} in {one.exercise.name} nor in {one.solution.name}")
    return one


@functools.cache
def read(folder):
    """The assignment of a chapter's or a task's folder."""
    path = folder / NAME
    if not path.is_file():
        raise Problem(f"{path} is missing: there is no assignment in that folder")
    table = filled_in(path)
    try:
        asked = of(Words, table)
        return named_in(Assignment(folder, asked.op, asked.lines, asked.hints, asked.points.correctness,
                                   asked.points.safety, asked.bar, asked.question, asked.bug))
    except Problem as error:
        raise Problem(f"{path}: {error}") from error


def every(root=ROOT):
    """All assignments: the chapters', then the open tasks'."""
    folders = [*root.glob("chapters/[0-9][0-9]_*"), *(root / TASKS).glob("*")]
    return [read(folder) for folder in sorted(folders) if (folder / NAME).is_file()]


def find(name, root=ROOT):
    """By chapter07, 07, or a task's operation."""
    found = {a.name: a for a in every(root)}
    for key in (name, f"chapter{name}", f"chapter{name:0>2}"):
        if key in found:
            return found[key]
    raise Problem(f"there is no assignment '{name}'; there are {', '.join(found)}")
