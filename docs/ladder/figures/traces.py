"""Where the threads of a block go: traces what the pages' figures show with the executor.

    python -m ladder.figures.traces        trace each into plots/data/traces/

A file there holds, for one figure, what happens at lines of its files in the first
block of a launch. plot.py draws it. No GPU is needed, and every machine gets
the same. One of another directive, or of files that have changed since, is refused.
"""

import dataclasses
import json
import pathlib
import tempfile

from ladder import counts, toolchain
from ladder.figures import asked, drawings
from ladder.figures.drawing import Printed
from ladder.figures.trace_kinds import READERS, TRACERS
from ladder.measured import records
from ladder.measured.tie import tie
from ladder.pages import ROOT, Problem, script

FOLDER = "plots/data/traces"
MOST_TRACED = 64  # Accesses of a warp: common/simt/observe/trace.cpp stops there.


@dataclasses.dataclass(frozen=True)
class Trace:
    """What was seen in one file, for one figure."""
    path: pathlib.Path
    source: str
    views: list  # Of the kind that the figure shows.

    def code(self):
        return (self.path.parents[3] / self.source).read_text()


def wanted(root):
    """The figures that the pages ask for."""
    return asked.everywhere(root, drawings.KINDS)


def shown(root, one):
    """What a figure is drawn from, file by file."""
    traced = drawings.KINDS[one.kind].traced
    if not traced:
        return [Printed(root / view.source) for view in one.views]
    return load(root, one, READERS[traced])


def path_of(root, one):
    return root / FOLDER / f"{one.name}.json"


def load(root, one, read):
    path = path_of(root, one)
    name = path.relative_to(root)
    try:
        data = json.loads(path.read_text())
        found = [Trace(path, of_file["source"], [read(view) for view in of_file["views"]])
                 for of_file in data["files"]]
        changed = [of_file["source"] for of_file in data["files"]
                   if of_file["tie"] != tie(root, of_file["source"])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise records.RecordError(f"{name}: {error!r}: run `make figures`") from error
    if changed or data["asked"] != one.text:
        what = f"in another version of {changed[0]}" if changed else f"for another directive than '{one.text}'"
        raise records.RecordError(f"{name} was traced {what}: run `make figures`")
    return found


def trace(root, one):
    """What the file of a figure's traces says, traced now."""
    files = {}
    for view in one.views:
        found = files.setdefault(view.source, {
            "source": view.source, "tie": tie(root, view.source), "views": []})
        found["views"] += TRACERS[drawings.KINDS[one.kind].traced](view, events(root, view))
    return {"asked": one.text, "files": list(files.values())}


def events(root, view):
    """What the executor saw at the view's lines, block by block and warp by warp."""
    source = root / view.source
    chapters = view.source.startswith("chapters/")  # Others have a main of their own.
    program = counts.built(root, source, ".counted" if chapters else ".program")
    found = [event | {"number": number} for number in view.blocks for code in view.code
             for event in _events_at(program, source, view, code, number)]
    if len(view.code) > 1:  # Of each line they are in order by themselves.
        found.sort(key=lambda event: (event["number"], event["warp"], event["issued"]))
    return found


def _events_at(program, source, view, code, number):
    """At one line in a block of the launch that first got there."""
    place = place_of(source, code)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        toolchain.said_by([program, str(view.n), str(view.offset)], SIMT_TRACE=str(path),
                          SIMT_TRACE_LINE=place, SIMT_TRACE_BLOCK=str(number),
                          SIMT_COUNTERS="off", SIMT_CHECKS="off")
        found = json.loads(path.read_text())
    first = [event for event in found if event["launch"] == found[0]["launch"]]
    if sum(event["warp"] == 0 for event in first) >= MOST_TRACED:
        raise Problem(f"{place} is executed more often than a trace holds: "
                      "choose a smaller n in the page")
    return first


def place_of(source, code):
    """file:line, of the source or of a header beside it."""
    places = [f"{path.name}:{number}" for path in (source, *sorted(source.parent.glob("*.h")))
              for number, text in enumerate(path.read_text().splitlines(), 1) if code in text]
    if len(places) != 1:
        raise Problem(f"{source.name} has {len(places)} lines with '{code}', "
                      "where one was expected: mend the page's figure")
    return places[0]


def main():
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    for one in wanted(ROOT):
        if drawings.KINDS[one.kind].traced:
            path = path_of(ROOT, one)
            path.write_text(json.dumps(trace(ROOT, one), indent=1) + "\n")
            print(f"traced {path.relative_to(ROOT)}")


if __name__ == "__main__":
    script("traces", main)
