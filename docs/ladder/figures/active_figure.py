"""Draws who is active at each step of a block."""

from ladder.figures.canvas import BLUE, ORANGE, PALE, boxes, new_figure, without_frame
from ladder.figures.trace_kinds import LANES

ALL = (1 << LANES) - 1


def draw_active(shown):
    """Who is active at each step of a reduction?"""
    heights = [len(steps.masks) for steps in shown]
    figure, panels = new_figure(7.2, sum(1.1 + 0.3 * h for h in heights), len(shown), squeeze=False,
                                height_ratios=heights)
    for axes, steps in zip(panels.flat, shown):
        draw_steps(axes, steps)
    return figure


def draw_steps(axes, steps):
    """A row a step, a box a warp; filled where the thread works."""
    warps = len(steps.masks[0])
    xs = [1.14 * warp for warp in range(warps)]
    ys = [1.24 * step for step in range(len(steps.masks))]
    right = xs[-1] + 1
    across = max(8, min(LANES, 256 // warps))  # Thinner lanes cannot be seen.
    for y, masks in zip(ys, steps.masks):
        draw_step(axes, y, dict(zip(xs, masks)), across)
        for x, count in ((1.09, sum(map(bool, masks))),
                         (1.2, sum(mask.bit_count() for mask in masks))):
            axes.text(right * x, y + 0.5, f"{count:,}", ha="right", va="center", fontsize=9)
    for x, words in ((1.09, "warps\nat work"), (1.2, "threads\nthat add")):
        axes.text(right * x, -0.25, words, ha="right", va="bottom", fontsize=8.6)
    axes.set_title(f"threads that add: {steps.title}", loc="left", fontsize=10)
    axes.set_yticks([y + 0.5 for y in ys], [f"step {k}" for k in range(1, len(ys) + 1)], fontsize=9)
    named = range(0, warps, max(1, warps // 8))
    axes.set_xticks([xs[warp] + 0.5 for warp in named], named, fontsize=8.6)
    axes.set_xlabel(
        f"warp of the block; in each box its {LANES} threads"
        + (f", {across} in a row" if across < LANES else "")
        + "\nblue: all of them add; orange: some add, the others wait; "
        "empty: none does\nEvery thread tests the condition; shown are those that then "
        "add.\nA counter of active threads counts both.", fontsize=9, loc="left")
    without_frame(axes)
    axes.set_xlim(-0.1, right * 1.21)
    axes.set_ylim(ys[-1] + 1.1, -0.1)


def draw_step(axes, y, masks, across):
    """masks: where a warp's box begins -> which of its lanes work."""
    width, height = 1 / across, across / LANES
    boxes(axes, [(x, y) for x, mask in masks.items() if not mask], 1, 1,
          facecolor="none", edgecolor="#CCCCCC", linewidth=0.6)
    boxes(axes, [(x, y) for x, mask in masks.items() if mask == ALL], 1, 1, color=BLUE)
    some = {x: mask for x, mask in masks.items() if 0 < mask < ALL}
    boxes(axes, [(x, y) for x in some], 1, 1, color=PALE)
    boxes(axes, [(x + lane % across * width, y + lane // across * height)
                 for x, mask in some.items()
                 for lane in range(LANES) if mask >> lane & 1],
          width, height, color=ORANGE)
