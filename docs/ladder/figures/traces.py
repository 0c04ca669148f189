"""Where the threads of a block go: traces chapters' kernels with the executor.

    python -m ladder.figures.traces        trace each view of plots/views.json into plots/data/traces/

A file there holds, for one .cu file, what happens at a line of it in the first
block of a launch. plot.py draws it. No GPU is needed, and every machine gets
the same. A file whose .cu has changed since is refused.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from ladder import counts
from ladder.figures import sum_traces, trace_kinds
from ladder.measured import records
from ladder.measured.tie import tie
from ladder.pages import ROOT, Problem

FOLDER = "plots/data/traces"
WANTED = "plots/views.json"
EXAMPLES = "examples"
LANES = 32
SECTOR = 32  # bytes
BANKS, BANK = 32, 4  # so many, each of so many bytes
MOST_TRACED = 64  # Accesses of a warp: common/simt/observe/trace.cpp stops there.


@dataclasses.dataclass(frozen=True)
class View:
    """A line of a file that is worth a look, in one call.

    In a view of lanes or banks each load of the first warp has a title, and
    one whose title is empty is not shown; other views have one title at most.
    """
    titles: list
    code: str  # a part of the line, and of no other
    more: tuple = ()  # of lines that are traced with it
    blocks: tuple = (0,)
    n: int = 1 << 20
    offset: int = 0
    array: str = "x"  # that the line loads from

    @classmethod
    def of(cls, titles=(), **more):
        """As WANTED has it."""
        return cls([each for one in titles for each in ([""] * one if isinstance(one, int) else [one])],
                   **more)


# For a file: which figures, and what each shows. Of titles, a number is that of loads
# that are not shown.
#   lanes    which lanes of a warp load from which sectors
#   banks    which lanes of a warp load from which banks of shared memory
#   active   which threads of a block store at each step, between two barriers
# for drawings.py, see trace_kinds.py:
#   owners   which thread of which block takes which element
#   order    a warp's loads and stores, in their order
#   vote, exchange   what the lanes of a warp hand each other
#   beside   as lanes, of a file that is drawn beside another one
# and for those of a sum, see sum_traces.py:
#   tree     which two numbers each of them adds
#   traffic  how many numbers a block loads and stores at each step, and where
#   race     what threads do to one number, in which order
#   queue    how many blocks there are, and where each adds its sum
VIEWS = {source: {kind: [View.of(**view) for view in views] for kind, views in kinds.items()}
         for source, kinds in json.loads((ROOT / WANTED).read_text()).items()}


@dataclasses.dataclass(frozen=True)
class Access:
    """One load of a warp: the first byte that each lane wants, and how many."""
    title: str
    n: int
    array: str
    bytes: int
    first: dict  # lane -> offset in the array, or in the block's shared memory

    def touched(self):
        """{sector: {lane: bytes of it that the lane wants}}"""
        found = {}
        for lane, first in self.first.items():
            for byte in range(first, first + self.bytes):
                lanes = found.setdefault(byte // SECTOR, {})
                lanes[lane] = lanes.get(lane, 0) + 1
        return dict(sorted(found.items()))

    def banks(self):
        """{bank: {lane: word in shared memory that the lane wants of it}}"""
        found = {}
        for lane, first in self.first.items():
            word = first // BANK
            found.setdefault(word % BANKS, {})[lane] = word
        return found

    def wavefronts(self):
        """A bank serves one word a wavefront, to all the lanes that want it."""
        return max(len(set(words.values())) for words in self.banks().values())


@dataclasses.dataclass(frozen=True)
class Steps:
    """Which threads of a block work at each step: a mask of lanes a warp."""
    title: str
    n: int
    masks: list  # of a step: [mask of warp 0, mask of warp 1, ...]


@dataclasses.dataclass(frozen=True)
class Trace:
    """What is recorded of one file."""
    path: pathlib.Path
    source: str
    views: dict  # figure -> [Access or Steps]

    def code(self):
        return (self.path.parents[3] / self.source).read_text()

    def figure(self, kind):
        """lanes, of 03_pack/relu.four.cu -> lanes_03_pack.four.svg"""
        source = pathlib.Path(self.source)
        return f"{kind}_{source.parent.name}{pathlib.Path(source.stem).suffix}.svg"


def of_source(root, source):
    """The trace of a .cu file; refuses one of another version."""
    return load(root, path_of(root, source))


def path_of(root, source):
    return root / FOLDER / records.file_name(source)


def every(root):
    """All traces that were recorded."""
    return [load(root, path) for path in sorted((root / FOLDER).glob("*.json"))]


def load(root, path):
    name = path.relative_to(root)
    try:
        data = json.loads(path.read_text())
        source = root / data["source"]
        views = {figure: [READERS[figure](one) for one in shown]
                 for figure, shown in data["views"].items()}
        same = data["tie"] == tie(root, data["source"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise records.RecordError(f"{name}: {error!r}: run `make figures`") from error
    if not same:
        raise records.RecordError(f"{name} was traced in another version of "
                                  f"{data['source']}: run `make figures`")
    return Trace(path, data["source"], views)


def _read_access(data):
    return Access(**data | {"first": {int(k): v for k, v in data["first"].items()}})


def _read_steps(data):
    masks = [[int(mask, 16) for mask in step.split()] for step in data["masks"]]
    return Steps(**data | {"masks": masks})


READERS = {"lanes": _read_access, "beside": _read_access, "banks": _read_access,
           "active": _read_steps, **trace_kinds.READERS, **sum_traces.READERS}


def trace(root, source):
    """What a file of traces says about `source`, traced now."""
    example = source.parent.name == EXAMPLES  # These have a main of their own.
    program = counts.built(root, source, ".program" if example else ".counted")
    views = {}
    for figure, wanted in VIEWS[str(source.relative_to(root))].items():
        views[figure] = [one for view in wanted
                         for one in TRACERS[figure](view, events(program, source, view))]
    return {"source": str(source.relative_to(root)),
            "tie": tie(root, source.relative_to(root)), "views": views}


def events(program, source, view):
    """What the executor saw at the view's lines, block by block and warp by warp."""
    found = [event | {"number": number} for number in view.blocks
             for code in (view.code, *view.more)
             for event in _events_at(program, source, view, code, number)]
    if view.more:  # Of each line they are in order by themselves.
        found.sort(key=lambda event: (event["number"], event["warp"], event["issued"]))
    return found


def _events_at(program, source, view, code, number):
    """At one line in a block of the launch that first got there."""
    place = f"{source.name}:{line_of(source, code)}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        run = subprocess.run(
            [program, str(view.n), str(view.offset)], text=True,
            capture_output=True,
            env=os.environ | {"SIMT_TRACE": str(path), "SIMT_TRACE_LINE": place,
                              "SIMT_TRACE_BLOCK": str(number),
                              "SIMT_COUNTERS": "off", "SIMT_CHECKS": "off"})
        if run.returncode:
            raise Problem(f"{source.name} cannot be traced:\n{run.stdout}{run.stderr}")
        found = json.loads(path.read_text())
    first = [event for event in found if event["launch"] == found[0]["launch"]]
    if sum(event["warp"] == 0 for event in first) >= MOST_TRACED:
        raise Problem(f"{place} is executed more often than a trace holds: "
                      f"choose a smaller n in {WANTED}")
    return first


def line_of(source, code):
    lines = [number for number, text in enumerate(source.read_text().splitlines(), 1)
             if code in text]
    if len(lines) != 1:
        raise Problem(f"{source.name} has {len(lines)} lines with '{code}', "
                      f"where one was expected: mend {WANTED}")
    return lines[0]


def sectors_loaded(view, events):
    return _loads(view, events, "global")


def banks_loaded(view, events):
    if any(event["bytes"] > BANK for event in events):
        raise Problem(f"'{view.code}' loads more than one bank's width a lane: "
                      "that takes several phases, which no figure shows yet")
    return _loads(view, events, "shared")


def _loads(view, events, space):
    found = [event for event in events if event["warp"] == 0
             and event["use"] == "load" and event["space"] == space]
    if len(found) != len(view.titles):
        raise Problem(f"'{view.code}' loads {len(found)} times from {space} memory, "
                      f"where {WANTED} has {len(view.titles)} titles")
    return [{"title": title, "n": view.n, "array": view.array,
             "bytes": event["bytes"],
             "first": {str(lane["lane"]): lane["offset"] for lane in event["lanes"]}}
            for title, event in zip(view.titles, found) if title]


def steps_taken(view, events):
    """The stores; between two barriers a thread stores once at most."""
    warps = -(-events[0]["block"] // LANES)
    steps = {}
    for event in events:
        if event["use"] != "store":
            continue
        masks = steps.setdefault(event["barriers"], [0] * warps)
        lanes = sum(1 << lane["lane"] for lane in event["lanes"])
        if masks[event["warp"]] & lanes:
            raise Problem(f"'{view.code}' stores twice between two barriers: "
                          "there are no steps to tell apart")
        masks[event["warp"]] |= lanes
    if not steps:
        raise Problem(f"'{view.code}' stores nothing")
    return [{"title": title, "n": view.n,
             "masks": [" ".join(f"{mask:08x}" for mask in masks)
                       for masks in steps.values()]} for title in view.titles]


TRACERS = {"lanes": sectors_loaded, "beside": sectors_loaded, "banks": banks_loaded,
           "active": steps_taken, **trace_kinds.TRACERS, **sum_traces.TRACERS}


def main():
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    for name in VIEWS:
        source = ROOT / name
        path = path_of(ROOT, source)
        path.write_text(json.dumps(trace(ROOT, source), indent=1) + "\n")
        print(f"traced {name} into {path.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"traces: {problem}")
