"""A sheet to draw on, measured in pixels: what a page shows of it is as large.

GitHub shows a page 830 pixels wide. Nothing is written smaller than 11 of them.
"""

from ladder.figures.canvas import BLUE, INK, ORANGE, new_figure

WIDTH = 830
SMALL, NORMAL, LARGE = 11.5, 12.5, 14
PIXEL = 72 / 96  # points


class Sheet:
    """Its y points down, as lines of text do."""

    def __init__(self, height, width=WIDTH):
        self.figure, self.axes = new_figure(width / 96, height / 96)
        self.figure.set_layout_engine("none")
        self.axes.set_position([0, 0, 1, 1])
        self.axes.set_axis_off()
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)

    def text(self, x, y, words, size=NORMAL, color=INK, **more):
        """Centred on a point, unless told otherwise."""
        self.axes.text(x, y, words, fontsize=size * PIXEL, color=color,
                       **{"ha": "center", "va": "center"} | more)

    def write(self, x, y, words, size=12, **more):
        """The same, begun at x."""
        self.text(x, y, words, size, **{"ha": "left"} | more)

    def box(self, x, y, width, height, color, **more):
        """x, y: its upper left corner."""
        from matplotlib.patches import Rectangle
        self.axes.add_patch(Rectangle((x, y), width, height,
                                      **{"facecolor": color, "linewidth": 0} | more))

    def key(self, x, y, colors):
        """What each colour means, side by side; y: the middle."""
        for color, words in colors.items():
            self.box(x, y - 7, 14, 14, color)
            self.write(x + 20, y, words)
            x += 44 + 7.2 * len(words)

    def line(self, points, color=INK, width=1, **more):
        self.axes.plot(*zip(*points), color=color, linewidth=width * PIXEL,
                       solid_capstyle="butt", **more)

    def bracket(self, x, right, y, height, color=INK):
        """Around what is written beyond it; height below 0: open to below."""
        self.line([(x, y), (x, y + height), (right, y + height), (right, y)], color)

    def butterfly(self, y, far, middles, above, below):
        """What each lane gets in a shuffle, and what it has: arrows from above y to below it."""
        for lane, x in enumerate(middles):
            self.arrow((middles[lane ^ far], y - above), (x, y - below), ORANGE)
            self.arrow((x, y - above), (x, y - below), BLUE)

    def arrow(self, start, end, color=INK):
        self.axes.annotate("", end, start, arrowprops={
            "arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0,
            "mutation_scale": 9, "linewidth": 1})
