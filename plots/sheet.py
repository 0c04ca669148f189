"""A sheet to draw on, measured in pixels: what a page shows of it is as large.

GitHub shows a page 830 pixels wide. Nothing is written smaller than 11 of them.
"""

import canvas
from canvas import INK

WIDTH = 830
SMALL, NORMAL, LARGE = 11.5, 12.5, 14
PIXEL = 72 / 96  # points


class Sheet:
    """Its y points down, as lines of text do."""

    def __init__(self, height, width=WIDTH):
        self.figure, self.axes = canvas.sheet(width, height)

    def text(self, x, y, words, size=NORMAL, color=INK, **more):
        """Centred on a point, unless told otherwise."""
        canvas.write(self.axes, x, y, words, size, color=color, **{"ha": "center"} | more)

    def box(self, x, y, width, height, color, **more):
        """x, y: its upper left corner."""
        from matplotlib.patches import Rectangle
        self.axes.add_patch(Rectangle((x, y), width, height,
                                      **{"facecolor": color, "linewidth": 0} | more))

    def line(self, points, color=INK, width=1, **more):
        self.axes.plot(*zip(*points), color=color, linewidth=width * PIXEL,
                       solid_capstyle="butt", **more)

    def arrow(self, start, end, color=INK):
        canvas.arrow(self.axes, start, end, color)
