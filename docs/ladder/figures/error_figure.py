"""Draws errors: by the order of a sum, and beside the time that a kernel takes.

The first is what tests/programs/numerics_error.cu computed, of its .expected file;
the second what the benchmarks recorded.
"""

import dataclasses
import pathlib
import re

from ladder.figures.canvas import BLUE, GREY, ORANGE, PALE, label_end, new_figure
from ladder.measured import records
from ladder.measured.records import RecordError

FILE = "tests/programs/numerics_error.expected"
# A column of the table each.
ORDERS = {"one by one": (ORANGE, "^"),
          "a tree per block,\nthen one by one": (GREY, "s"), "a tree": (BLUE, "o")}


@dataclasses.dataclass(frozen=True)
class Errors:
    path: pathlib.Path
    sizes: list
    curves: dict  # order -> [(error, the most that it can be)]


def load(path):
    rows = [re.findall(r"[\d.]+", line) for line in path.read_text().splitlines()]
    rows = [[float(number) for number in row] for row in rows if row[1:]]
    if not rows or any(len(row) != 7 for row in rows):
        raise RecordError(f"{path.name} holds no table of errors: see {path.stem}.cu")
    return Errors(path, [row[0] for row in rows],
                  {order: [(row[1 + 2 * k], row[2 + 2 * k]) for row in rows]
                   for k, order in enumerate(ORDERS)})


def draw_error(errors):
    """How does the error of a sum grow, by the order of addition?"""
    figure, axes = new_figure(7.2, 3.9)
    for order, (color, marker) in ORDERS.items():
        found, most = zip(*errors.curves[order])
        axes.plot(errors.sizes, most, color=color, linewidth=1, linestyle=":")
        axes.plot(errors.sizes, found, color=color, linewidth=2, marker=marker, markersize=4)
        for y, words in ((found[-1], order), (most[-1], "at most")):
            label_end(axes, y, words, color, 1.015, fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(errors.sizes[0], errors.sizes[-1])
    axes.set_xlabel("n, random floats between 0 and 1")
    axes.set_ylabel("error in units of 2⁻²⁴ of the sum")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    return figure


def panels(args):
    """error_speed "ALT" OP "TITLE" OP "TITLE" -> ALT, {OP: TITLE}"""
    found = re.fullmatch(r'error_speed "([^"]+)"((?: \w+ "[^"]+"){2})', args)
    if not found:
        raise RecordError('write: figure error_speed "for A and for B" OP "TITLE" OP "TITLE"')
    titles = re.findall(r'(\w+) "([^"]+)"', found[2])
    return found[1], {op: title.replace("\\n", "\n") for op, title in titles}


def with_errors(root, titles):
    """The records of all files of these contracts, variants too: a list each."""
    sources = sorted(records.all_sources(root), key=lambda source: (source.parent, source.stem))
    return [records.measured(root, [one for one in sources if records.op_of(one) == op]) for op in titles]


def draw_error_speed(families, titles):
    """Is the exact one the slow one?"""
    figure, both = new_figure(8.4, 3.6, 1, 2)
    for axes, measured, words in zip(both, families, titles.values()):
        points = [(record.headline().us, worst_error(record), record) for record in measured]
        top = 1.3 * max(error for _, error, _ in points)
        for us, error, record in points:
            crowded = any(0 < other - error < top / 10 and abs(x - us) < us / 10
                          for x, other, _ in points)
            axes.plot(us, error, "o", color=BLUE, markersize=7)
            axes.annotate(name(record), (us, error), xytext=(6, -13 if crowded else 5),
                          textcoords="offset points", fontsize=9)
        axes.set_ylim(0, top)
        axes.set_xlim(0, 1.3 * max(us for us, _, _ in points))
        axes.set_xlabel("µs for 2²⁸ numbers, cold L2")
        axes.set_title(words, fontsize=10)
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    return figure


def worst_error(record):
    """Of all sizes from 2^20 on: smaller ones are too few numbers to be wrong."""
    errors = [row.worst_error for row in record.rows.values()
              if row.series == record.op and row.n >= 1 << 20]
    if None in errors:
        raise RecordError(f"{record.path} holds no errors: run `make bench` again")
    return max(errors)


def name(record):
    """04; of a variant 04.scalar, as make calls it"""
    source = pathlib.Path(record.context["source"])
    return source.parent.name[:2] + source.stem.removeprefix(record.op)


def draw_formulas(shown):
    """Where does which formula for GELU lose its digits, and does a half show it?"""
    rows = formulas(shown[0])
    figure, axes = new_figure(8.6, 4.0)
    begins, *columns = zip(*rows)
    edges = [*begins, 2 * begins[-1] - begins[-2]]
    apart = {ORANGE: 0.55, BLUE: 1.6, GREY: 1}
    for ys, color, width, words in zip(columns, (ORANGE, BLUE, GREY), (2.4, 2.4, 1.4), (
            "x / 2 · (1 + tanh u)", "x / (1 + exp(−2u))", "rounding to half")):
        ys = [min(y, 1) for y in ys]
        axes.stairs(ys, edges, baseline=None, color=color, linewidth=width)
        label_end(axes, apart[color] * ys[-1], words, color)
    seen = [k for k, (_, by_tanh, _, rounding) in enumerate(rows) if rounding < min(by_tanh, 1)]
    axes.axvspan(edges[seen[0]], edges[seen[-1] + 1], color=PALE, linewidth=0, zorder=0)
    axes.text(edges[seen[-1] + 1] + 0.08, 0.3, "shaded: the error is larger than\nthe rounding, so "
              "a half shows it", va="center", fontsize=9.5)
    axes.set_yscale("log")
    axes.set_ylim(2e-8, 2)
    axes.set_yticks([1, 1e-2, 1e-4, 1e-6], ["100 %", "1 %", "0.01 %", "0.0001 %"])
    axes.minorticks_off()
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("x")
    axes.set_ylabel("largest error, in percent of the result")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    return figure


def formulas(printed):
    """[x from which on, error by tanh, by exp, by rounding to half]"""
    rows = [[float(word) for word in line.split()] for line in printed.text.splitlines()[2:]]
    if len(rows) < 2 or any(len(row) != 4 for row in rows):
        raise RecordError(f"{printed.path.name} holds no table of errors")
    return rows
