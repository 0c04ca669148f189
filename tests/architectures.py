#!/usr/bin/env python3
"""See that what a reader builds compiles for every architecture that the toolkit knows.

    tests/architectures.py [chapters] [common] [plots]     those alone

Chapters and common/ are compiled from their source for each generation of GPUs, and from that
PTX for each of its members; plots/ to the oldest PTX, and from it for the oldest of each
generation: NVIDIA promises that it serves all. Only what runs on a GPU: the host's part is the
same in every other build. What tests/ holds is about the PTX for compute_90, which the executor reads.
"""

import os
import re
import sys

from ladder import pages, together, toolchain

BACKEND = os.environ.get("BACKEND", "cpu")
PLACES = ("chapters/**/*.cu", "common/**/*.cu", "plots/**/*.cu")
FROM_SOURCE = ("chapters", "common")  # What a reader opens.
ERROR = re.compile(r"^(?:\./)?(\S+\.cu)\(\d+\): error", re.M)


def kin(path):
    """Chapters' files by what they do, open tasks all at once, others by their folder."""
    if path.is_relative_to(pages.ROOT / together.TASKS):
        return pages.ROOT / together.TASKS
    return together.op(path) if "chapters" in path.parts else path.parent


def groups(files):
    """What make is to build -> the files in it."""
    for kind in ("source", "ptx"):
        chosen = [f for f in files if (f.relative_to(pages.ROOT).parts[0] in FROM_SOURCE) == (kind == "source")]
        for members in together.gather(chosen, kin):
            planted = together.plant(pages.ROOT, kind, together.text(pages.ROOT, members))
            yield f"build/all/{planted.with_suffix('.fatbin')}", [m.relative_to(pages.ROOT) for m in members]


def failed_of(members, output):
    """Those that an error names; all of them where it names none."""
    named = set(ERROR.findall(output))
    return [path for path in members if str(path) in named] or members


def main():
    tally = pages.Tally()
    chosen = sys.argv[1:]
    places = [place for place in PLACES if not chosen or place.split("/")[0] in chosen]
    files = [path for place in places for path in sorted(pages.ROOT.glob(place))
             if not path.match("*.exercise.cu") and not together.stands_alone(path)]
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
