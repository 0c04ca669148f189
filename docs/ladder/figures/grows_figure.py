"""Draws what an all-reduce would take on ever more devices, and what was measured of it."""

from ladder.figures.canvas import BLUE, INK, ORANGE, new_figure
from ladder.measured import all_reduce

MOST = 1024
WAYS = (("around a ring", all_reduce.ring_us, BLUE, "-"), ("along a tree", all_reduce.tree_us, ORANGE, "--"))


def draw_grows(told):
    """When is a ring faster than a tree?"""
    devices = [1 << k for k in range(1, MOST.bit_length())]
    sizes = told.sizes(told.devices[0])
    figure, panels = new_figure(8.6, 3.8, columns=2)
    for axes, size in zip(panels, (sizes[0], sizes[-1])):
        for words, us, color, line in WAYS:
            axes.plot(devices, [us(told, d, size) for d in devices], line, color=color, label=words)
        measured = [d for d in told.devices if size in told.sizes(d)]
        axes.plot(measured, [told.row(d, size)["us"] for d in measured], "o", color=INK, markersize=6,
                  label="NCCL, measured")
        axes.set_title(f"{size:,} bytes", fontsize=10)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(devices[::3], devices[::3])
        axes.minorticks_off()
        axes.set_xlabel("devices")
        axes.set_ylabel("µs for one all-reduce")
    panels[0].legend(frameon=False, fontsize=9)
    return figure
