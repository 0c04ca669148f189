"""What the executor counts of a chapter's file, for the pages' tables and claims.

The numbers come from the program itself, built without a GPU; make knows when
they are out of date. They are the same on every machine.
"""

import dataclasses
import functools
import re

from harness import counted
from harness.built import count
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
    return {Case(*call): found for call, found in counted.read(path).items()}


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
    return read(count(root, built(root, source, ".run"), f".{case.n}.{case.offset}", *sizes))[case]


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
