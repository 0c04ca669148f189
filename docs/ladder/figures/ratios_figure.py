"""Draws an engine beside PyTorch: one mark per case, against the bytes that it must move."""

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, new_figure
from ladder.measured import cases

DRAWN, CHOSEN = ("drawn by chance", BLUE), ("chosen, not drawn", GREY)
FASTER, SLOWER = ("faster than PyTorch", BLUE), ("slower than PyTorch", ORANGE)
TICKS = (0.5, 1, 2, 4, 8, 16, 32)


def kinds_of(compared):
    """What marks mean: where no case says why it was chosen, none was drawn."""
    return (DRAWN, CHOSEN, SLOWER) if any(case.known for case in compared.cases) else (FASTER, SLOWER)


def kind_of(compared, k):
    if compared.ratio(k) < 1:
        return SLOWER
    if FASTER in kinds_of(compared):
        return FASTER
    return CHOSEN if compared.cases[k].known else DRAWN


def draw_ratios(compared):
    """Where is the engine faster than PyTorch, and where is it not?"""
    figure, axes = new_figure(8.6, 4.2)
    axes.axhline(1, color=INK, linewidth=1.2)
    axes.axhline(compared.mean, color=INK, linewidth=0.8, linestyle=":")
    for words, color in kinds_of(compared):
        chosen = [k for k in range(len(compared.cases)) if kind_of(compared, k) == (words, color)]
        axes.plot([compared.cases[k].bytes for k in chosen], [compared.ratio(k) for k in chosen], "o",
                  color=color, markersize=5, alpha=0.75, label=f"{words} ({len(chosen)})")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    highest = max(map(compared.ratio, range(len(compared.cases))))
    shown = [tick for tick in TICKS if tick <= highest]
    axes.set_yticks(shown, [f"{tick:g} x" for tick in shown])
    axes.tick_params(axis="x", labelsize=12)
    right = axes.get_xlim()[1]
    axes.text(right, 1, " PyTorch", va="center", fontsize=9)
    axes.text(right, compared.mean, f" mean {compared.mean:.2f} x", va="center", fontsize=9)
    axes.set_xlabel("bytes that the case must move")
    axes.set_ylabel(f"{cases.PYTORCH}'s time over the {cases.ENGINE}'s, L2 cold")
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    return figure
