"""What the executor counts of a chapter's file, for the pages' tables and claims.

The numbers come from the program itself, built without a GPU; make knows when
they are out of date. They are the same on every machine.
"""

import dataclasses
import functools
import re

from harness.built import counted
from ladder import toolchain
from ladder.pages import Problem


@dataclasses.dataclass(frozen=True)
class Case:
    """A call on n elements, in arrays that start `offset` elements too far, or
    only what one of its kernels does."""

    n: int
    offset: int = 0
    kernel: str = ""

    def __str__(self):
        off = {0: "", 1: ", one element off"}
        kernel = f", {self.kernel} alone" if self.kernel else ""
        return f"n = {self.n:,}" + off.get(self.offset, f", {self.offset} elements off") + kernel


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table that ./run prints."""

    name: str
    metric: str
    value: float
    text: str
    ideal: str
    relevant: bool


@dataclasses.dataclass
class Counted:
    launches: list  # (kernel, blocks, threads of each)
    rows: dict  # name -> Row
    parts: list = dataclasses.field(default_factory=list)  # the rows of each launch

    def of(self, kernel):
        """What one kernel does of it; a template may be named without its arguments."""
        names = [(launch[0], launch[0].partition("<")[0]) for launch in self.launches]
        found = [k for k, both in enumerate(names) if kernel in both]
        if len(found) != 1:
            names = ", ".join(launch[0] for launch in self.launches)
            raise Problem(f"{kernel} is launched {len(found)} times, need exactly 1; "
                          f"launched: {names or 'nothing'}")
        return Counted([self.launches[found[0]]], self.parts[found[0]])

    def row(self, name):
        if name not in self.rows:
            raise Problem(f"nothing is counted as '{name}'; there are {', '.join(self.rows)}")
        return self.rows[name]


def parse_case(words):
    """['n=2^20', 'offset=1'] -> Case"""
    found = {}
    for word in words:
        if word.startswith("kernel=") and "kernel" not in found:
            found["kernel"] = word.removeprefix("kernel=")
            continue
        match = re.fullmatch(r"(n|offset)=(?:(\d+)\^(\d+)|([\d,]+))", word)
        if not match or match[1] in found:
            raise Problem(f"'{word}' is no size: write n=1048576 or n=2^20, then offset=1 if need be")
        number = int(match[2]) ** int(match[3]) if match[2] else int(match[4].replace(",", ""))
        found[match[1]] = number
    if "n" not in found:
        raise Problem("say for how many elements: n=1048576 or n=2^20")
    return Case(**found)


def of_source(root, source, case):
    """What is counted when the program of a .cu file makes one call."""
    usual, call = _usual(root, source), dataclasses.replace(case, kernel="")
    counted = usual[call] if call in usual else _asked_for(root, source, call)
    return counted.of(case.kernel) if case.kernel else counted


def read(path):
    """A file of counts: Case -> Counted."""
    cases = {}
    for line in path.read_text().splitlines():
        word, *rest = line.split("\t")
        if word == "case":
            counted = cases[Case(int(rest[0]), int(rest[1]))] = Counted([], {})
        elif word == "launch":
            counted.launches.append((rest[0], int(rest[1]), int(rest[2])))
            counted.parts.append({})
        elif word in ("part", "row"):
            name, metric, value, text, ideal, relevant = rest
            rows = counted.parts[-1] if word == "part" else counted.rows
            rows[name] = Row(name, metric, float(value), text, ideal, relevant == "1")
    return cases


@functools.cache
def _usual(root, source):
    """The cases that ./run shows."""
    path = built(root, source, ".counts")
    cases = read(path)
    if not cases:
        raise Problem(f"{source.name} does not pass its checks, so nothing is counted: "
                      f"see {path.relative_to(root)}.log")
    return cases


@functools.cache
def _asked_for(root, source, case):
    sizes = f"--n={case.n}", f"--offset={case.offset}"
    return read(counted(root, built(root, source, ".run"), f".{case.n}.{case.offset}", *sizes))[case]


def built(root, source, suffix):
    """What make makes of a .cu file, up to date."""
    target = _target(root, source, suffix)
    if source not in _chapter_sources(root) or not _make_all(root, suffix):
        toolchain.made(root, "cpu", target)
    return root / target


def _target(root, source, suffix):
    return f"build/cpu/{source.relative_to(root).with_suffix(suffix)}"


@functools.cache
def _make_all(root, suffix):
    """All at once is quicker. Whether none failed."""
    targets = [_target(root, source, suffix) for source in _chapter_sources(root)]
    with toolchain.alone(root):
        return toolchain.make(root, "cpu", "-k", *targets).returncode == 0


def _chapter_sources(root):
    return sorted(p for p in root.glob("chapters/*/*.cu") if not p.match("*.exercise.cu"))
