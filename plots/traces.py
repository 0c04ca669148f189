#!/usr/bin/env python3
"""Where the lanes of a warp go: traces chapters' loads with the executor.

    plots/traces.py        trace each view below into plots/data/traces/

A file there holds, for one chapter, what the first warp of a launch loads at a
line of its source. plot.py draws it. No GPU is needed, and every machine gets
the same. A file whose .cu has changed since is refused.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import records

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import counts  # noqa: E402
from pages import Problem  # noqa: E402

FOLDER = "plots/data/traces"
SECTOR = 32  # bytes


@dataclasses.dataclass(frozen=True)
class View:
    """A load in a chapter's file that is worth a look, in one call."""
    titles: list  # of its executions, so many
    code: str  # a part of the line, and of no other
    n: int = 1 << 20
    offset: int = 0


VIEWS = {
    "chapters/01_one_thread_each/relu.cu": [
        View(["one float a lane"], "rectify(x[i])")],
    "chapters/02_grid_stride/relu.cu": [
        View(["first round", "second round"], "rectify(x[i])", n=9 << 20)],
    "chapters/03_pack/relu.cu": [
        View(["aligned, one pack a lane"], "const Pack*>(x)[first]"),
        View(["one element off, one float a lane"], "rectify(x[i])", offset=1)],
}


@dataclasses.dataclass(frozen=True)
class Access:
    """One load of a warp: the first byte that each lane wants, and how many."""
    title: str
    n: int
    bytes: int
    first: dict  # lane -> offset in the array

    def touched(self):
        """{sector: {lane: bytes of it that the lane wants}}"""
        found = {}
        for lane, first in self.first.items():
            for byte in range(first, first + self.bytes):
                lanes = found.setdefault(byte // SECTOR, {})
                lanes[lane] = lanes.get(lane, 0) + 1
        return dict(sorted(found.items()))


@dataclasses.dataclass(frozen=True)
class Trace:
    """What is recorded of one chapter's file."""
    path: pathlib.Path
    source: str
    accesses: list


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
        accesses = [Access(**a | {"first": {int(k): v for k, v in a["first"].items()}})
                    for a in data["accesses"]]
        same = data["source_sha256"] == records.sha256(source)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise records.RecordError(f"{name}: {error!r}: run `make figures`") from error
    if not same:
        raise records.RecordError(f"{name} was traced in another version of "
                                  f"{data['source']}: run `make figures`")
    return Trace(path, data["source"], accesses)


def trace(root, source):
    """What a file of traces says about `source`, traced now."""
    views = VIEWS[str(source.relative_to(root))]
    program = counts.built(root, source, ".counted")
    return {"source": str(source.relative_to(root)),
            "source_sha256": records.sha256(source),
            "accesses": [access for view in views
                         for access in loads(program, source, view)]}


def loads(program, source, view):
    place = f"{source.name}:{line_of(source, view.code)}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        run = subprocess.run(
            [program, str(view.n), str(view.offset)], text=True,
            capture_output=True,
            env=os.environ | {"SIMT_TRACE": str(path), "SIMT_TRACE_LINE": place,
                              "SIMT_COUNTERS": "off", "SIMT_CHECKS": "off"})
        if run.returncode:
            raise Problem(f"{source.name} cannot be traced:\n{run.stdout}{run.stderr}")
        events = json.loads(path.read_text())
    found = [e for e in events if e["use"] == "load" and e["space"] == "global"]
    if len(found) != len(view.titles):
        raise Problem(f"{place} loads {len(found)} times, where plots/traces.py "
                      f"expects {', '.join(view.titles)}")
    for title, event in zip(view.titles, found):
        yield {"title": title, "n": view.n, "bytes": event["bytes"],
               "first": {str(lane["lane"]): lane["offset"] for lane in event["lanes"]}}


def line_of(source, code):
    lines = [number for number, text in enumerate(source.read_text().splitlines(), 1)
             if code in text]
    if len(lines) != 1:
        raise Problem(f"{source.name} has {len(lines)} lines with '{code}', "
                      "where one was expected: mend VIEWS in plots/traces.py")
    return lines[0]


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
