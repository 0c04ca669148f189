"""Draws what a block's time goes to, by how many numbers each of its threads adds."""

import dataclasses
import pathlib

from ladder.figures.canvas import BLUE, GREY, ORANGE, new_figure
from ladder.figures.sheet import LARGE, SMALL, Sheet
from ladder.figures.sweep_figure import COLORS, MARKERS, N, mark_reading
from ladder.measured import sweep

FLOAT = 4  # bytes


@dataclasses.dataclass(frozen=True)
class Counts:
    """What was counted of the same kernels, without a GPU."""
    path: pathlib.Path
    pairs: dict  # Pair -> {name: number}
    block: int  # How many threads the chapter's own blocks have.


def counts(root):
    return Counts(root / sweep.COUNTED, sweep.recorded_counts(root), sweep.chapters_own(root).block)


def draw_budget(timed, counted):
    """What part of a block's time is reading, and what part is its tree and its turn?"""
    block = counted.block
    pairs = [sweep.Pair(coarse, block) for coarse in sweep.FACTORS]
    times = {pair: per_block(timed.records[pair], pair) for pair in pairs}
    left, high, top = 262, 32, 84
    sheet = Sheet(top + high * len(pairs) + 40)
    sheet.text(12, 18, f"Time per block of {block} threads: the whole time, divided by the "
               "number of blocks", LARGE, ha="left", weight="bold")
    for x, words in ((60, "numbers\nper thread"), (140, "numbers\nper block"),
                     (220, "barriers\nper block")):
        sheet.text(x, 56, words, SMALL)
    for x, color, words in ((left, BLUE, "reading its numbers, at the speed of a plain read"),
                            (left + 318, ORANGE, "the rest: tree, barriers, queue")):
        sheet.box(x, 50, 12, 12, color)
        sheet.text(x + 18, 56, words, SMALL, ha="left")
    scale = 410 / max(map(sum, times.values()))
    for k, (pair, (read, rest)) in enumerate(times.items()):
        y = top + high * k
        barriers = counted.pairs[pair]["barriers"] // counted.pairs[pair]["blocks"]
        for x, number in ((60, pair.coarse), (140, pair.coarse * block), (220, barriers)):
            sheet.text(x, y + 12, f"{number:,}")
        sheet.box(left, y, scale * read, high - 8, BLUE)
        sheet.box(left + scale * read, y, scale * rest, high - 8, ORANGE)
        sheet.text(left + scale * (read + rest) + 8, y + 12, f"{read + rest:.1f} ns, "
                   f"{100 * read / (read + rest):.0f} % reading", ha="left")
    sheet.text(12, top + high * len(pairs) + 18, "Many blocks run at the same time, so each of "
               "them takes much longer: this is how often one is done.", SMALL, GREY,
               ha="left")
    return sheet.figure


def per_block(record, pair):
    """Nanoseconds: of reading as many bytes in the same process, and the rest."""
    row = record.headline(N)
    read = min(row.us, record.read_of(row).us)
    return 1e3 * read / blocks(pair), 1e3 * (row.us - read) / blocks(pair)


def draw_blocks(timed):
    """Is it the number of blocks that costs time?"""
    figure, axes = new_figure(8.6, 4.2)
    times = {}
    for pair, record in timed.records.items():
        times.setdefault(pair.block, []).append((blocks(pair), record.headline(N).us))
    most, longest = max(max(points) for points in times.values())
    ends = [min(min(points)[0] for points in times.values()), most]
    axes.plot(ends, [longest / most * count for count in ends], color=GREY, linewidth=1,
              linestyle="--")
    axes.annotate(f"{1e3 * longest / most:.1f} ns per block", (most, longest), xytext=(-14, 0),
                  textcoords="offset points", ha="right", va="center", color=GREY)
    for block, points in times.items():
        axes.plot(*zip(*sorted(points)), color=COLORS[block], marker=MARKERS[block],
                  markersize=max(4.5, 10 - block / 50), linewidth=1.2, label=str(block))
    alone = FLOAT * N / sweep.read_gbps(timed, N) * 1e-3
    mark_reading(axes, alone, 0.6, ends[1], 0.94, ha="right")
    axes.set_ylim(0.6 * alone, 1.5 * longest)
    axes.legend(title="threads per block", frameon=False)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
    axes.set_xlabel("blocks that add to the one sum")
    axes.set_ylabel("µs for 2²⁸ numbers, cold L2")
    return figure


def blocks(pair):
    return -(-N // (pair.coarse * pair.block))
