"""Draws each chapter's part of the copy on the GPU of the text and on a second one."""

from ladder.figures.canvas import BLUE, INK, ORANGE, draw_bar, new_figure
from ladder.measured import records

COLORS = (BLUE, ORANGE)


def records_of(root):
    """The records of the chapters that were measured on both, a list for each GPU."""
    both = [records.REFERENCE_GPU, records.SECOND_GPU]
    pairs = [[records.measured(root, [source], gpu) for gpu in both]
             for source in records.main_sources(root)]
    return [sum(of_gpu, []) for of_gpu in zip(*filter(all, pairs))]


def draw_gpus(shown, title):
    """Does a chapter come as close to the copy where the memory is slower?"""
    chapters = list(zip(*shown))
    figure, axes = new_figure(7.2, 0.9 + 0.52 * len(chapters))
    for k, of_chapter in enumerate(chapters):
        for record, color, y in zip(of_chapter, COLORS, (k - 0.2, k + 0.2)):
            row = record.headline(records.HEADLINE)
            percent = record.percent_of_copy(row)
            words = f"{percent:.1f} %  ·  {row.us:,.0f} µs"
            draw_bar(axes, y, percent, words, color, 0.38, fontsize=9)
    axes.axvline(100, color=INK, linewidth=1.2)
    axes.text(100, -0.62, "a plain copy", ha="right", va="bottom", fontsize=9)
    for of_gpu, color, x in zip(shown, COLORS, (0, 24)):
        axes.text(x, -0.62, of_gpu[0].context["gpu"], color=color, va="bottom", weight="bold",
                  fontsize=9)
    axes.set_yticks(range(len(chapters)), [title(of_chapter[0]) for of_chapter in chapters])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(chapters) - 0.4, -0.6)
    axes.set_xlabel("bandwidth in percent of a copy of as many bytes, same process and GPU")
    return figure
