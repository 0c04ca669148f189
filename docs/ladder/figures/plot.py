"""Draws every figure from plots/data/ into plots/figures/.

    python -m ladder.figures.plot              draw
    python -m ladder.figures.plot --check      change nothing; exit 1 unless every
                                               figure was drawn from these data by
                                               these scripts

Each SVG ends with a comment that holds two hashes: of what it was drawn from,
and of the drawing. The check compares those, so it needs no matplotlib.
"""

import argparse
import dataclasses
import hashlib
import io
import pathlib
import re

from ladder import pages
from ladder.figures import (budget_figure, counters_figure, drawings, error_figure, grows_figure,
                            moved_figure, ratios_figure, sweep_figure, traces, two_gpus_figure)
from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE, draw_bar, label_end, new_figure
from ladder.measured import all_reduce, cases, moved, peers, records, sweep, work
from ladder.pages import ROOT

SCRIPTS = [*sorted(pathlib.Path(__file__).resolve().parent.glob("*.py")),
           *(pathlib.Path(module.__file__) for module in (all_reduce, cases, moved, peers, records, sweep, work))]

SEAL = "<!-- drawn from {inputs}; drawing {drawing} -->\n"


class Figure:
    """A name, the records or traces it shows, and what draws them."""

    def __init__(self, name, shown, draw):
        self.name, self.shown, self._draw = name, shown, draw

    def inputs(self):
        """The hash of the data and of the scripts."""
        whole = hashlib.sha256()
        for path in [*(record.path for record in self.shown), *SCRIPTS]:
            whole.update(path.read_bytes())
        return whole.hexdigest()

    def draw(self):
        return self._draw(self.shown)

    def svg(self):
        file = io.StringIO()
        self.draw().savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        text = file.getvalue()
        return text + SEAL.format(inputs=self.inputs(), drawing=digest(text))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def figures(root, troubles=None):
    """Every figure that the data call for. What is wrong with data is appended to
    `troubles`, so that it hides no other figure's; without such a list it is raised."""
    found = []
    for kind in KINDS:
        try:
            found += kind(root)
        except ValueError as error:
            if troubles is None:
                raise
            troubles.append(str(error))
    return found


def _of_records(root):
    recorded = {root / record.context["source"]: record
                for record in records.measured(root, records.main_sources(root))}
    beside = [peers.newest(root)] if records.recorded(root, peers.NAME) else []
    yield Figure("ladder.svg", [*recorded.values(), *beside],
                 lambda _: draw_ladder(list(recorded.values()), beside))
    if (root / "plots/data" / records.SECOND_GPU).is_dir():
        both = two_gpus_figure.records_of(root)
        yield Figure("gpus.svg", sum(both, []), lambda _: two_gpus_figure.draw_gpus(both, title))
    for source in recorded:
        shown = [recorded[s] for s in (records.previous(root, source), source) if s in recorded]
        yield Figure(f"by_size_{records.figure_name(source)}.svg", shown, draw_by_size)


def _of_traces(root):
    for one in traces.wanted(root):
        yield Figure(f"{one.name}.svg", traces.shown(root, one), drawings.KINDS[one.kind].draw)


def _of_names(root):
    """One of each, where a page asks for it."""
    def of_sweep():
        return [sweep.timed(root), budget_figure.counts(root)]

    measured = {
        "counters": (lambda: [counters_figure.load(root), *records.measured(root, records.main_sources(root))],
                     lambda shown: counters_figure.draw_counters(shown[0], shown[1:], title)),
        "error": (lambda: [error_figure.load(root / error_figure.FILE)], lambda shown: error_figure.draw_error(*shown)),
        "sweep": (lambda: [sweep.timed(root)],
                  lambda shown: sweep_figure.draw_sweep(*shown, sweep.chapters_own(root))),
        "budget": (of_sweep, lambda shown: budget_figure.draw_budget(*shown)),
        "blocks": (of_sweep, lambda shown: budget_figure.draw_blocks(shown[0])),
        "grows": (lambda: [all_reduce.newest(root)], lambda shown: grows_figure.draw_grows(*shown))}
    for name in dict.fromkeys(args.split()[0] for _, args in pages.directives(root, "figure", *measured)):
        shown, draw = measured[name]
        yield Figure(f"{name}.svg", shown(), draw)


def _of_errors(root):
    for _, args in pages.directives(root, "figure", "error_speed"):
        _, titles = error_figure.panels(args)
        rounded = error_figure.with_errors(root, titles)
        yield Figure("error_speed.svg", sum(rounded, []),
                     lambda _: error_figure.draw_error_speed(rounded, titles))


def _of_cases(root):
    for _, name in pages.directives(root, "figure", "ratios"):
        compared = cases.newest(root, name.removeprefix("ratios").strip())
        yield Figure(f"ratios_{compared.path.stem}.svg", [compared], lambda shown: ratios_figure.draw_ratios(*shown))


def _of_moved(root):
    for op in moved.recorded(root):
        yield Figure(f"moved_{op}.svg", [moved.newest(root, op)], lambda shown: moved_figure.draw_moved(*shown))


KINDS = (_of_records, _of_traces, _of_names, _of_errors, _of_cases, _of_moved)


def draw_ladder(shown, beside):
    """How much of a plain copy's bandwidth does each chapter reach, and each peer?"""
    families = {}
    for record in shown:
        families.setdefault(record.op, []).append(record)
    bars = {op: [*map(chapters_bar, family), *peers_bars(op, beside)]
            for op, family in families.items()}
    rows = sum(map(len, bars.values())) + 1.1 * len(families)
    figure, axes = new_figure(7.2, 1.1 + 0.4 * rows)
    ticks, y = {}, 0.6
    for op, family in families.items():
        row = family[0].headline()
        axes.text(1.5, y, f"{op}: {row.bytes / row.n:.4g} bytes to move for "
                  "each element", fontsize=9, va="center")
        for k, bar in enumerate(bars[op]):
            words = f"{bar.gbps:,.0f} GB/s  ·  {bar.percent:.1f} %"
            draw_bar(axes, y + 0.8 + k, bar.percent, words, bar.color)
            ticks[y + 0.8 + k] = bar.name
        if reads(family[0]):
            read = mark_reads(axes, y + 0.8, family)
            axes.text(read, y, "a read", ha="right", va="center", fontsize=9)
        y += len(bars[op]) + 1.1
    axes.axvline(100, color=INK, linewidth=1.2)
    axes.text(100, 0, "a plain copy", ha="right", va="bottom")
    axes.set_yticks(list(ticks), ticks.values())
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, max(105, 1.02 * axes.dataLim.xmax))
    axes.set_ylim(rows, 0)
    axes.set_xlabel("bandwidth in percent of a copy of as many bytes, same process")
    return figure


@dataclasses.dataclass(frozen=True)
class Bar:
    name: str
    gbps: float
    percent: float  # Of the copy in the same process.
    color: str


def chapters_bar(record):
    row = record.headline()
    return Bar(title(record), row.gbps, record.percent_of_copy(row), BLUE)


def peers_bars(op, beside):
    """What one would call instead: beside the copy of their own process, and only where it
    is what the ladder shows of the chapters."""
    timed = work.of(op)
    for measured in beside if timed and not timed.series else []:
        copy = measured.times.get((op, records.COPY, records.HEADLINE))
        for by in measured.by(op, records.HEADLINE):
            if peers.label(by) in ("PyTorch", "CUB"):
                time = measured.time(op, by, records.HEADLINE)
                yield Bar(peers.label(by), time.bytes / time.p50_us * 1e-3,
                          100 * copy.p50_us / time.p50_us, GREY)


def mark_reads(axes, y, family):
    """A read alone is faster than a copy: the roof of what writes nothing."""
    for k, record in enumerate(family):
        row = record.headline()
        read = 100 * record.copy_of(row).us / record.read_of(row).us
        axes.vlines(read, y + k - 0.42, y + k + 0.42, color=INK, linewidth=1.2,
                    linestyle=(0, (2, 1)))
    return read


def reads(record):
    return record.sizes(records.READ)


def draw_by_size(shown):
    """From which size on does the kernel decide, and not the launch?"""
    figure, axes = new_figure(8.6, 4.2)
    this = shown[-1]
    roof, name = ((this.read_of, "a plain read") if reads(this) else (this.copy_of, "a plain copy"))
    rows = curve(this, this.op)
    axes.axhline(100, color=INK, linewidth=1.2)
    ends, points = [(100, name, INK)], []
    for record, color, width in zip(reversed(shown), (BLUE, ORANGE), (2.4, 1.6)):
        found = draw_percent(axes, record, color, width, "o" if record is this else "^")
        ends.append((found[-1][1], f"{title(record)}: {found[-1][1]:.0f} %", color))
        points += found
    top = max(112, 1.04 * axes.dataLim.ymax)
    label_ends(axes, ends, top)

    launch = [row.n for row in rows if roof(row).us < 2 * this.floor_us]
    if launch:
        axes.axvspan(rows[0].n, launch[-1], color=PALE, linewidth=0, zorder=0)
        write_clear(axes, rows[0].n * 1.2, points, f"{name} takes less than twice as long\n"
                    f"as launching an empty kernel, {this.floor_us:.1f} µs")
    per_element = rows[-1].bytes / rows[-1].n
    l2 = this.l2_bytes / per_element
    axes.axvline(l2, color=INK, linewidth=0.8, linestyle=":")
    write_clear(axes, l2 * 1.1, points, "more than the L2 cache\n"
                f"holds ({this.l2_bytes / 2**20:.0f} MiB)")

    axes.set_xscale("log", base=2)
    axes.tick_params(axis="x", labelsize=12)  # Its exponents are much smaller.
    axes.set_xlim(rows[0].n, rows[-1].n * 1.15)
    axes.set_ylim(0, top)
    axes.set_xlabel(f"n, elements ({per_element:g} bytes to move for each)")
    axes.set_ylabel(f"bandwidth in percent of {name}'s, L2 cold")
    return figure


def draw_percent(axes, record, color, width, marker):
    """A file's bandwidth beside the roof of its own run; returns [(n, percent)]."""
    rows = curve(record, record.op)
    roof = record.read_of if reads(record) else record.copy_of
    xs, percents = [row.n for row in rows], [100 * roof(row).us / row.us for row in rows]
    axes.fill_between(xs, [100 * roof(row).us / row.us_p90 for row in rows],
                      [100 * roof(row).us / row.us_p10 for row in rows],
                      color=color, alpha=0.2, linewidth=0)
    axes.plot(xs, percents, color=color, linewidth=width, marker=marker, markersize=3.5)
    return list(zip(xs, percents))


def write_clear(axes, x, points, words):
    """Two lines of text, as low as no point of a curve is in their way."""
    near = [percent for n, percent in points if x / 2 <= n <= 2**8.5 * x]
    free = (y for y in range(2, 100) if all(abs(percent - y - 5) > 9 for percent in near))
    y = next(free, 2)
    axes.text(x, y, words, va="bottom", fontsize=9)


def curve(record, series):
    return [record.row(series, n) for n in record.sizes(series)]


def label_ends(axes, ends, top):
    """Names each line at its right end, apart from each other."""
    y = -top
    for percent, name, color in sorted(ends):
        y = max(percent, y + 0.06 * top)
        label_end(axes, y, name, color)


def title(record):
    """NN_name -> NN name"""
    return pathlib.Path(record.context["source"]).parent.name.replace("_", " ")


def seal_of(text):
    """(drawing, inputs hash, drawing hash) of an SVG that we drew."""
    match = re.fullmatch(r"(.*)<!-- drawn from (\w+); drawing (\w+) -->\n", text, re.S)
    return match.groups() if match else (text, "", "")


def problem_of(path, figure):
    """What is wrong with a committed figure, or None."""
    if not path.is_file():
        return "is missing"
    drawing, inputs, drawn = seal_of(path.read_text())
    if digest(drawing) != drawn:
        return "was changed by hand"
    if inputs != figure.inputs():
        return "was drawn from other data or by another script"
    return None


def check(root, wanted, troubles=()):
    folder = root / "plots" / "figures"
    names = {figure.name for figure in wanted}
    problems = {path.name: "belongs to no chapter: delete it"
                for path in sorted(folder.glob("*.svg"))
                if path.name not in names}
    for figure in wanted:
        problem = problem_of(folder / figure.name, figure)
        if problem:
            problems[figure.name] = f"{problem}: run `make plots`"
    if troubles:  # Whose figures are not known belong to somebody.
        problems = {name: problem for name, problem in problems.items() if name in names}
    for trouble in troubles:
        print(f"FAIL {trouble}")
    for name, problem in problems.items():
        print(f"FAIL plots/figures/{name} {problem}")
    passed = len(names - problems.keys())
    print(f"{passed} passed, {len(problems) + len(troubles)} failed")
    return 1 if problems or troubles else 0


def draw(root, wanted):
    folder = root / "plots" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for figure in wanted:
        (folder / figure.name).write_text(figure.svg())
        print(f"drew plots/figures/{figure.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if one is stale")
    if parser.parse_args().check:
        troubles = []
        return check(ROOT, figures(ROOT, troubles), troubles)
    return draw(ROOT, figures(ROOT))


if __name__ == "__main__":
    pages.script("plot", main)
