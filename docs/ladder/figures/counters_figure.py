"""Counters beside times: what the executor counts of each chapter, what a GPU takes.

    python -m ladder.figures.counters_figure       count; `make figures` does

The counts lie in plots/data/executor/chapters.json. They need no GPU and are the
same on every machine.
"""

import dataclasses
import json
import pathlib

from ladder import counts
from ladder.figures.canvas import BLUE, INK, ORANGE, new_figure, without_frame
from ladder.measured import records
from ladder.measured.records import RecordError
from ladder.measured.tie import tie
from ladder.pages import ROOT, script

FILE = "plots/data/executor/chapters.json"
DRAWN, QUICK = 1 << 26, 1 << 20  # The second is what the tests count again.
REQUESTS = ("load requests", "store requests", "reduction requests", "atomic requests")
WARP = 32
# What is counted -> its panel's title.
COUNTED = {"bytes": "bytes moved\nper element",
           "requests": "memory requests\nfor 1,000 elements",
           "slots": "instructions per element,\nidle lanes included"}


@dataclasses.dataclass(frozen=True)
class Counted:
    path: pathlib.Path
    chapters: dict  # source -> {n: {what is counted: number}}


def count(root, source, n):
    """Of the contract's first function, where a call makes several: all launches up to the
    kernel that has its name. Else of all launches."""
    counted = counts.of_source(root, source, counts.Case(n))
    kernels = [kernel.partition("<")[0] for kernel, _, _ in counted.launches]
    parts, named = [counted.rows], f"{records.op_of(source)}_kernel"
    if named in kernels and {named} != set(kernels):
        parts = counted.parts[:kernels.index(named) + 1]

    def an_element(*rows):
        return sum(part[row].value for part in parts for row in rows) / n

    return {"bytes": an_element("bytes moved by all requests"),
            "requests": 1000 * an_element(*REQUESTS),
            "slots": WARP * an_element("warp instructions")}


def count_all(root):
    return {str(source.relative_to(root)): {
        "tie": tie(root, source.relative_to(root)),
        "counted": {str(n): count(root, source, n) for n in (QUICK, DRAWN)}}
        for source in records.main_sources(root)}


def load(root):
    path = root / FILE
    try:
        chapters = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise RecordError(f"{FILE}: {error}: run `make figures`") from error
    for source in records.main_sources(root):
        name = str(source.relative_to(root))
        if chapters.get(name, {}).get("tie") != tie(root, name):
            raise RecordError(f"{FILE} was not counted from this {name}: run `make figures`")
    return Counted(path, {name: one["counted"] for name, one in chapters.items()})


def draw_counters(counted, measured, title):
    """Which counter goes with the time?"""
    names, y = [], 0.0
    for before, record in zip([None, *measured], measured):
        y += 1.0 if before is None or before.op == record.op else 1.8
        names.append((y, record))
    figure, panels = new_figure(9.6, 5.2, 1, len(COUNTED) + 1, sharey=True)
    for axes, (what, words) in zip(panels, COUNTED.items()):
        draw_panel(axes, words, BLUE, [
            (y, counted.chapters[record.context["source"]][str(DRAWN)][what])
            for y, record in names])
    draw_panel(panels[-1], "picoseconds per element,\nL2 cold", ORANGE, [
        (y, 1e6 * record.row(record.op, DRAWN).us / DRAWN) for y, record in names])
    panels[0].set_yticks([y for y, _ in names], [title(record) for _, record in names])
    panels[0].invert_yaxis()
    figure.supxlabel("n = 2²⁶; blue: counted by the executor without a GPU; "
                     f"orange: timed on an {measured[0].context['gpu']}", fontsize=9)
    return figure


def draw_panel(axes, words, color, bars):
    most = max(value for _, value in bars)
    for y, value in bars:
        axes.barh(y, value, height=0.66, color=color)
        axes.text(value + 0.03 * most, y, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
                  va="center", fontsize=9, color=INK)
    axes.set_title(words, fontsize=9.5)
    axes.set_xlim(0, 1.32 * most)
    axes.set_xticks([])
    without_frame(axes)


def main():
    path = ROOT / FILE
    path.write_text(json.dumps(count_all(ROOT), indent=1) + "\n")
    print(f"counted the chapters into {FILE}")


if __name__ == "__main__":
    script("counters_figure", main)
