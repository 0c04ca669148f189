"""Draws what sweep.py timed: a chapter's kernel with other constants."""

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, new_figure
from ladder.measured import sweep

N = max(sweep.SIZES)
COLORS = dict(zip(sweep.BLOCKS, ("#E69F00", ORANGE, BLUE, GREY, INK)))
MARKERS = dict(zip(sweep.BLOCKS, "v^osD"))


def draw_sweep(swept, own):
    """How many numbers per thread, and how many threads per block, are enough?"""
    figure, axes = new_figure(7.2, 4.0)
    for block in sweep.BLOCKS:
        rows = [swept.records[sweep.Pair(coarse, block)].headline(N) for coarse in sweep.FACTORS]
        axes.fill_between(sweep.FACTORS, [row.us_p10 for row in rows], [row.us_p90 for row in rows],
                          color=COLORS[block], alpha=0.2, linewidth=0)
        axes.plot(sweep.FACTORS, [row.us for row in rows], color=COLORS[block],
                  marker=MARKERS[block], markersize=4.5, label=str(block),
                  linewidth=2.4 if block == own.block else 1.4)
    here = (own.coarse, swept.records[own].headline(N).us)
    axes.plot(*here, "o", markersize=13, markerfacecolor="none", markeredgecolor=INK)
    axes.annotate("this chapter", here, xytext=(0, -17), textcoords="offset points",
                  ha="center", fontsize=9)

    roof = rows[0].bytes / sweep.read_gbps(swept, N) * 1e-3
    mark_reading(axes, roof, 0.65, sweep.FACTORS[0], 0.97)
    axes.legend(title="threads per block", frameon=False)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sweep.FACTORS, sweep.FACTORS)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
    axes.set_ylim(0.65 * roof)
    axes.set_xlabel("numbers that a thread adds up by itself")
    axes.set_ylabel("µs for 2²⁸ numbers, cold L2")
    return figure


def mark_reading(axes, roof, least, x, y, **look):
    """The time that reading alone takes, and grey from a part of it up to there."""
    axes.axhspan(least * roof, roof, color=GREY, alpha=0.18, linewidth=0)
    axes.text(x, y * roof, f"reading the array alone takes {roof:,.0f} µs", va="top", fontsize=9, **look)
