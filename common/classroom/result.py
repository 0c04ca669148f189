"""The result of one hand-in of one assignment: results/NAME/ASSIGNMENT/result.json."""

import dataclasses
import json
import pathlib

CORRECTNESS, SAFETY, EFFICIENCY = "correctness", "safety", "efficiency"
# How the grading of a hand-in went. Of ABSENT and NOT_COMPILED no check ran; of STOPPED some
# may have, and their points count. All but GRADED say why in `message`.
GRADED, ABSENT, NOT_COMPILED, STOPPED = "graded", "absent", "not compiled", "stopped"


FILES = {".json", ".csv", ".xml", ".md", ".svg", ".png", ".part"}  # What RESULTS may hold beside folders.


def folder_of(student):
    """In RESULTS; a student who is called like a file of ours gets no such folder, and nobody another's."""
    return student + "_" * (pathlib.Path(student.rstrip("_")).suffix in FILES)


@dataclasses.dataclass(frozen=True)
class Check:
    name: str  # "sum handles every length", "race", "sectors per load request"
    kind: str
    points: float
    of: float
    why: str = ""  # A sentence for each lost point's sake; '' where none was lost.
    line: int = 0  # Of the hand-in's source; 0 where no line is to blame.


@dataclasses.dataclass(frozen=True)
class Result:
    student: str
    id: str  # Both from the roster, else the folder's name.
    assignment: str  # chapter07
    file: str  # Relative to the folder of hand-ins.
    sha256: str  # Of the file; '' where there is none.
    status: str
    message: str  # What a student should read first; '' if all is well.
    checks: tuple
    seed: int
    commit: str  # Of this repository, "+" behind it if it was changed.
    compiler: str
    executor: str
    contained: str  # bubblewrap, unshare, user, or "no"
    seconds: float  # How long it took.
    counters: dict = dataclasses.field(default_factory=dict)  # Row of ./run's table -> number.
    # On a GPU, beside the solution, if that was asked for: {"ratio": 1.03, ...} or {"why": there is
    # none}. A hand-in can make it up, so it is information and gives no points.
    time: dict = dataclasses.field(default_factory=dict)
    limit: int = 0  # Seconds that it might take.

    @property
    def points(self):
        return round(sum(check.points for check in self.checks), 2)

    @property
    def of(self):
        return round(sum(check.of for check in self.checks), 2)

    @property
    def is_right(self):
        """Whether no point was lost for correctness or safety."""
        return bool(self.checks) and all(c.points >= c.of for c in self.checks if c.kind != EFFICIENCY)

    def json(self):
        return json.dumps({**dataclasses.asdict(self), "points": self.points, "of": self.of}, indent=1) + "\n"


def load(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    data.pop("points"), data.pop("of")
    return Result(**{**data, "checks": tuple(Check(**check) for check in data["checks"])})
