#!/usr/bin/env python3
"""Compares the races that the executor finds in random kernels with those that there are.

    races.py check 1-300    where the two disagree
    races.py show 17        the kernel of a seed, and its races

race_kernels.py makes a kernel's statements together with what they order, so an oracle knows
by happens-before which accesses to a byte nothing orders (happens_before.py). No race may be told
that is none. Of each word with a race one must be told, unless more has happened there than the
executor remembers (docs/executor.md, "What it cannot know").
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from harness import Problem, script
from ladder import toolchain
from race_kernels import LAST, MODULE, kernel
from race_statements import NOTES

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = "build/cpu/tests/fuzz/races.program"
BATCH = 200  # The report holds what 1,000 launches have found.


def found(kernels, **environment):
    """Name -> what the executor found; and by kernel and line, what threads have noted."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "kernels.ptx").write_text(MODULE + "".join(one.text() for one in kernels))
        tables = [one.table().tobytes() for one in kernels]
        (folder / "tables").write_bytes(b"".join(tables))
        (folder / "launches").write_text("".join(
            f"{one.name()} {one.shape.blocks} {one.shape.threads} {len(table)}\n"
            for one, table in zip(kernels, tables)))
        report = folder / "report.json"
        done = subprocess.run([ROOT / PROGRAM, folder], text=True, capture_output=True,
                              env=os.environ | {"SIMT_REPORT": str(report)} | environment)
        if done.stdout or not report.is_file():
            raise Problem(f"{done.stdout}{done.stderr[-2000:]}")
        notes = np.fromfile(folder / "notes", np.int32)
        ends = np.cumsum([NOTES * one.shape.all for one in kernels])
        return ({one["kernel"]: one["findings"] for one in json.load(report.open())["launches"]},
                [some.reshape(NOTES, -1) for some in np.split(notes, ends[:-1])])


RACES = ("race", "same value")


def judge(one, findings, notes):
    """What the executor says that is not so, and what it does not say; and what it forgets."""
    strict = one.order(notes)
    trusting = one.order(notes, strict)
    said = {tuple(sorted((f["line"], f["other"]["line"]))) for f in findings if f["kind"] in RACES}
    said.discard((LAST, LAST))  # Several warps' bytes.
    wrong = [f"{f['kind']}: {f['message']}" for f in findings if f["kind"] not in (*RACES, "uninitialised read")]
    wrong += [f"no race between lines {pair}" for pair in sorted(said - strict.races.keys() - strict.alike)]
    words = lambda some: {(memory, byte // 4) for memory, byte in some}
    seen = words(set().union(*(strict.races[pair] for pair in said & strict.races.keys())))
    forgotten = 0
    for pair in sorted(trusting.told.keys() - said):
        kinds = {access.kind for line, access, *_ in strict.past if line in pair}
        left = words(trusting.told[pair]) - seen
        missed = sorted(place for place in left if not strict.forgets(kinds, *place))
        forgotten += bool(left) and not missed
        if missed:
            wrong.append(f"missed between lines {pair}: {missed[:3]}")
    return wrong, forgotten


def check(seeds):
    failed = forgot = 0
    for first in range(0, len(seeds), BATCH):
        kernels = [kernel(seed) for seed in seeds[first:first + BATCH]]
        findings, notes = found(kernels)
        for one, noted in zip(kernels, notes):
            wrong, forgotten = judge(one, findings[one.name()], noted)
            forgot += bool(forgotten)
            if wrong:
                failed += 1
                print(f"FAIL  seed {one.seed}: {'; '.join(wrong)}")
    print(f"In {forgot} kernels a race was forgotten, as it may be.")
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return bool(failed)


def show(seed):
    one = kernel(seed)
    findings, (notes,) = found([one])
    print(f"// <<<{one.shape.blocks}, {one.shape.threads}>>>\n{one.text()}")
    for pair, where in sorted(one.order(notes).races.items()):
        print(f"// lines {pair}: {len(where)} bytes from {min(where)} on")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("check", "show"))
    parser.add_argument("seeds")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    toolchain.made(ROOT, "cpu", PROGRAM)
    return any(map(show, seeds)) if options.command == "show" else check(seeds)


if __name__ == "__main__":
    script("races", main)
