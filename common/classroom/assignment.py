"""What an assignment asks for and what it is worth: `assignment.toml` beside its files.

A teacher edits that file; docs/teaching.md explains each of its words.
"""

import contextlib
import dataclasses
import functools
import pathlib

try:
    import tomllib
except ImportError:  # Python 3.10.
    import tomli as tomllib

from harness import Problem, calculated

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "assignment.toml"
TASKS = pathlib.Path("common/classroom/tasks")


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


@dataclasses.dataclass(frozen=True, eq=False)  # Equal to itself alone: a dict has no hash.
class Question:
    """To be answered before running; {n}, {offset}, {block}, ... are drawn for each student."""
    text: str
    counter: str  # As of a Bar: the executor gives the answer.
    draw: dict  # Name -> the numbers to draw from, in order; n and offset are the call's.
    edit: str = ""  # 'old -> new' in the solution, with {names}: what else the numbers change.
    kernel: str = ""
    within: float = 0.005  # Of the right answer, relatively.


@dataclasses.dataclass(frozen=True)
class Bug:
    """A wrong kernel: the student says on which line, what finds it, and why."""
    file: str  # Below tests/wrong.
    lines: tuple  # Where the bug is: any of them is right.
    finding: str  # One of `choices`.
    choices: tuple
    why: str  # Shown when both are right.


@dataclasses.dataclass(frozen=True)
class Assignment:
    folder: pathlib.Path  # Of the chapter or the task.
    op: str
    lines: int  # Budget for the blanks.
    hints: tuple
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


def of(kind, table, **more):
    """An object of a dataclass from a table of the file, unknown and missing words refused."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := sorted(table.keys() - fields.keys()):
        raise Problem(f"{kind.__name__.lower()}: there is no '{unknown[0]}'; it takes {', '.join(fields)}")
    given = {word: tuple(value) if isinstance(value, list) else value for word, value in table.items()} | more
    missing = [name for name, field in fields.items() if name not in given and field.default is dataclasses.MISSING]
    if missing:
        raise Problem(f"{kind.__name__.lower()}: '{missing[0]}' is missing")
    return kind(**given)


def filled_in(path):
    """What a student has written into a file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}") from error


def bar_of(table):
    bar = of(Bar, {**table, "case": of(Case, table.get("case", {}))})
    if bool(bar.at_most) == bool(bar.at_least):
        raise Problem(f"bar: '{bar.counter}' needs either at_most or at_least")
    bar.number()
    return bar


def question_of(table):
    draw = table.get("draw", {})
    ranges = {word: range_of(given) for word, given in draw.items() if isinstance(given, dict)}
    return of(Question, {**table, "draw": {**draw, **ranges}} if ranges else table)


def range_of(table):
    """{from = 64, to = 256, by = 64}: all numbers of which the last may be `to`."""
    numbers = ()
    with contextlib.suppress(KeyError, TypeError, ValueError):
        numbers = range(table["from"], table["to"] + 1, table.get("by", 1))
    if not numbers or table.keys() - {"from", "to", "by"}:
        raise Problem(f"question: a range is {{from = 64, to = 256, by = 64}}, not {table}")
    return numbers


def bug_of(table):
    bug = of(Bug, table)
    if bug.finding not in bug.choices:
        raise Problem(f"bug: '{bug.finding}' is none of its choices: {', '.join(bug.choices)}")
    return bug


@functools.cache
def read(folder):
    """The assignment of a chapter's or a task's folder."""
    path = folder / NAME
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {"op", "lines", "hints", "points", "bar", "question", "bug"}
        if unknown := sorted(data.keys() - known):
            raise Problem(f"there is no '{unknown[0]}'; it takes {', '.join(sorted(known))}")
        points = of(Points, data["points"])
        return Assignment(
            folder, data["op"], data["lines"], tuple(data["hints"]), points.correctness, points.safety,
            tuple(map(bar_of, data.get("bar", []))),
            tuple(map(question_of, data.get("question", []))), tuple(map(bug_of, data.get("bug", []))))
    except FileNotFoundError:
        raise Problem(f"{path.relative_to(ROOT)} is missing: there is no assignment in that folder") from None
    except KeyError as error:
        raise Problem(f"{path.relative_to(ROOT)}: {error} is missing") from error
    except (Problem, tomllib.TOMLDecodeError) as error:
        raise Problem(f"{path.relative_to(ROOT)}: {error}") from error


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
