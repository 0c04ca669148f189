"""Draws what traces.py recorded: sectors, banks, and who is active."""

from canvas import BLUE, ORANGE, PALE, boxes, new_figure, without_frame
from drawings_memory import draw_lanes
from traces import BANKS, LANES

ALL = (1 << LANES) - 1


def draw_banks(accesses):
    """Which lanes of a warp touch which banks of shared memory?"""
    columns = min(2, len(accesses))
    rows = -(-len(accesses) // columns)
    figure, panels = new_figure(3.6 * columns, 4 * rows, rows, columns,
                                squeeze=False)
    for axes in panels.flat[len(accesses):]:
        axes.set_axis_off()
    for axes, access in zip(panels.flat, accesses):
        draw_bank_grid(axes, access)
    return figure


def draw_bank_grid(axes, access):
    """A row a bank, a column a lane; orange where a bank must serve in turns."""
    boxes(axes, [(-0.5, bank - 0.42) for bank in range(BANKS)], LANES, 0.84,
          color=PALE)
    for bank, words in access.banks().items():
        turns = len(set(words.values()))
        boxes(axes, [(lane - 0.5, bank - 0.42) for lane in words], 1, 0.84,
              color=BLUE if turns == 1 else ORANGE)
        if turns > 1:
            axes.text(LANES + 1.6, bank, f"{turns}", ha="right", va="center",
                      fontsize=6.5, color=ORANGE, weight="bold")
    axes.vlines([lane - 0.5 for lane in range(1, LANES)], -0.5, BANKS - 0.5,
                color="white", linewidth=0.6)
    turns = access.wavefronts()
    if turns > 1:
        axes.text(LANES + 1.6, -0.8, "words", ha="right", va="bottom",
                  fontsize=7, color=ORANGE)
    axes.set_title(f"{access.title}\n{len(access.first)} lanes, {turns} "
                   f"wavefront{'s' if turns > 1 else ''}", loc="left",
                   fontsize=10)
    axes.set_xticks(range(0, LANES, 4), range(0, LANES, 4), fontsize=8)
    axes.set_yticks(range(0, BANKS, 4), range(0, BANKS, 4), fontsize=8)
    axes.set_xlabel("lane of the warp", fontsize=9)
    axes.set_ylabel("bank", fontsize=9)
    without_frame(axes)
    axes.set_xlim(-0.6, LANES + 1.6)
    axes.set_ylim(BANKS - 0.4, -0.6)
    axes.set_aspect("equal")


def draw_active(shown):
    """Who is active at each step of a reduction?"""
    heights = [len(steps.masks) for steps in shown]
    figure, panels = new_figure(
        7.2, sum(1.1 + 0.3 * h for h in heights), len(shown),
        squeeze=False, height_ratios=heights)
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
            axes.text(right * x, y + 0.5, f"{count:,}", ha="right", va="center",
                      fontsize=9)
    for x, words in ((1.09, "warps\nat work"), (1.2, "threads\nthat add")):
        axes.text(right * x, -0.25, words, ha="right", va="bottom", fontsize=8)
    axes.set_title(steps.title, loc="left", fontsize=10)
    axes.set_yticks([y + 0.5 for y in ys],
                    [f"step {k}" for k in range(1, len(ys) + 1)], fontsize=9)
    named = range(0, warps, max(1, warps // 8))
    axes.set_xticks([xs[warp] + 0.5 for warp in named], named, fontsize=8)
    axes.set_xlabel(
        f"warp of the block; in each box its {LANES} threads"
        + (f", {across} in a row" if across < LANES else "")
        + "\nblue: all of them add; orange: some add, the others wait; "
        "empty: none does", fontsize=9, loc="left")
    without_frame(axes)
    axes.set_xlim(-0.1, right * 1.21)
    axes.set_ylim(ys[-1] + 1.1, -0.1)


def draw_step(axes, y, masks, across):
    """masks: where a warp's box begins -> which of its lanes work."""
    width, height = 1 / across, across / LANES
    boxes(axes, [(x, y) for x, mask in masks.items() if not mask], 1, 1,
          facecolor="none", edgecolor="#CCCCCC", linewidth=0.6)
    boxes(axes, [(x, y) for x, mask in masks.items() if mask == ALL], 1, 1,
          color=BLUE)
    some = {x: mask for x, mask in masks.items() if 0 < mask < ALL}
    boxes(axes, [(x, y) for x in some], 1, 1, color=PALE)
    boxes(axes, [(x + lane % across * width, y + lane // across * height)
                 for x, mask in some.items()
                 for lane in range(LANES) if mask >> lane & 1],
          width, height, color=ORANGE)


DRAW = {"lanes": draw_lanes, "banks": draw_banks, "active": draw_active}
