#!/usr/bin/env python3
"""See that every .cu compiles for every architecture that the toolkit knows.

What a reader builds is compiled together, once, to the oldest PTX, and from it for the
oldest and the newest generation of GPUs. For `make test-classroom`, chapters and common/ are
compiled from their source for each generation, and from that PTX for each of its members; the
rest, what tests/ holds too, from the oldest PTX, for the oldest of each generation. Only what
runs on a GPU: the host's part is the same in every other build.
"""

import os
import re
import sys

from harness import patches
from ladder import pages, together, toolchain

BACKEND = os.environ.get("BACKEND", "cpu")
PLACES = ("chapters/**/*.cu", "common/**/*.cu", "plots/**/*.cu")
TESTS = "tests/**/*.cu"
LEFT_OUT = ("hand_ins",  # Some do not compile, on purpose.
            "any_")  # Parts of one program, whose headers a chapter compiles.
FROM_SOURCE = ("chapters", "common")
ERROR = re.compile(r"^(?:\./)?(\S+\.cu)\(\d+\): error", re.M)


def kin(path):
    """Chapters' files and wrong kernels by what they do, open tasks all at once, others by
    their folder."""
    if path.is_relative_to(pages.ROOT / together.TASKS):
        return pages.ROOT / together.TASKS
    by_contract = "chapters" in path.parts or path.parent.name == "wrong"
    return together.op(path) if by_contract else path.parent


def is_from_source(path):
    """What a reader opens is compiled from its source for each generation, which takes minutes:
    `make test-classroom` does so. Otherwise it is compiled for the oldest, whose PTX serves all:
    NVIDIA promises that, so one try with the newest is enough."""
    return pages.CLASSROOM and path.relative_to(pages.ROOT).parts[0] in FROM_SOURCE


def groups(files):
    """What make is to build -> the files in it."""
    for kind in ("source", "ptx" if pages.CLASSROOM else "ends"):
        chosen = [f for f in files if is_from_source(f) == (kind == "source")]
        for members in together.gather(chosen, kin):
            planted = together.plant(pages.ROOT, kind, together.text(pages.ROOT, members))
            yield f"build/all/{planted.with_suffix('.fatbin')}", [m.relative_to(pages.ROOT) for m in members]


def failed_of(members, output):
    """Those that an error names; all of them where it names none."""
    named = set(ERROR.findall(output))
    return [path for path in members if str(path) in named] or members


def main():
    tally = pages.Tally()
    # What takes a minute or more: `make test-all` compiles what a reader opens first.
    places = (*PLACES, TESTS) if pages.CLASSROOM else PLACES[:1]
    for left in (*PLACES, TESTS):
        if left not in places:
            tally.skip(f"{left}: make test-classroom compiles them")
    patched = patches.sources(pages.ROOT).values() if TESTS in places else []
    found = {*patched, *(path for place in places for path in pages.ROOT.glob(place))}
    files = [path for path in sorted(found)
             if not path.match("*.exercise.cu") and not path.parent.name.startswith(LEFT_OUT)
             and not together.stands_alone(path)]
    for place in places:
        if not list(pages.ROOT.glob(place)):
            tally.fail(f"{place}: no such file")
    targets = dict(groups(files))
    for target, said in toolchain.make_each(pages.ROOT, BACKEND, targets).items():
        members = targets[target]
        failed = [] if said is None else failed_of(members, said)
        for path in members:
            if path in failed:
                tally.fail(f"{path} does not compile for every architecture")
            else:
                tally.ok(str(path))
        if failed:
            print(said)
    return tally.close("source file")


if __name__ == "__main__":
    sys.exit(main())
