"""Draws what the memory moved for each file of a chapter, beside what had to be moved."""

import pathlib

from ladder.figures.canvas import BLUE, INK, ORANGE, new_figure


def draw_moved(told):
    """Which steps of the ladder save bytes?"""
    sources = sorted(told.files, key=lambda source: sum(told.of_element(source)), reverse=True)
    figure, axes = new_figure(8.6, 0.9 + 0.42 * len(sources))
    for y, source in enumerate(sources):
        read, written = told.of_element(source)
        axes.barh(y, read, height=0.62, color=BLUE, label="read" if y == 0 else None)
        axes.barh(y, written, left=read, height=0.62, color=ORANGE, label="written" if y == 0 else None)
        axes.text(read + written, y, f" {read + written:.1f}", va="center", fontsize=9)
    axes.axvline(told.needed, color=INK, linewidth=1.2)
    axes.text(told.needed, -0.6, f"needed: {told.needed:g}", ha="center", va="bottom", fontsize=9)
    axes.set_yticks(range(len(sources)), [pathlib.Path(source).name for source in sources])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel("bytes per element between the GPU and its memory, all launches")
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return figure
