"""Draws a sum's tree number by number, and what its steps ask the memories for."""

import itertools

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import LARGE, SMALL, Sheet

EXAMPLE = (3, 1, 7, 0, 4, 1, 6, 3)  # What is added up; the trace tells who adds what.


def draw_tree(tree):
    """Which number meets which in each step, and which thread adds them?"""
    return Drawn(tree, list(EXAMPLE[:tree.n])).sheet.figure


class Drawn:
    """A tree, its places from left to right and its steps from top to bottom."""
    LEFT, PITCH, WIDE, HIGH, STEP = 112, 76, 56, 30, 100

    def __init__(self, tree, numbers):
        self.sheet = Sheet(102 + self.STEP * len(tree.steps))
        for place in range(len(numbers)):
            self.sheet.text(self.x(place), 18, f"x[{place}]", SMALL)
        self.sheet.text(14, 47, "before", ha="left")
        left = dict.fromkeys(range(len(numbers)))  # The places that still count.
        self.row(32, numbers, left, {})
        for k, (step, stride) in enumerate(zip(tree.steps, tree.strides())):
            self.step(32 + self.STEP * k, step, numbers, left)
            self.sheet.text(14, 47 + self.STEP * (k + 1), f"stride {stride}", ha="left")
        self.sheet.text(self.LEFT, 86 + self.STEP * len(tree.steps), "blue: the sums that the "
                        "threads have just stored; grey: still there, but no longer needed",
                        SMALL, ha="left")

    def x(self, place):
        return self.LEFT + self.PITCH * place + self.WIDE / 2

    def step(self, y, step, numbers, left):
        """From the row at y to the next one."""
        below = y + self.STEP
        for one in step:
            numbers[one.where] += numbers[one.partner]
            del left[one.partner]
            self.addition(y + self.HIGH, below, one)
        self.row(below, numbers, left, {one.where for one in step})
        count = f"{len(step)} threads add" if len(step) > 1 else "1 thread adds"
        self.sheet.text(822, below + self.HIGH / 2, count, ha="right")

    def addition(self, top, below, one):
        """Both numbers go to the thread, which stands above the place it writes."""
        at, wide, high = self.x(one.where), 60, 20
        box = below - 6 - high
        for place, off in ((one.where, 0), (one.partner, wide / 2 - 8)):
            self.sheet.arrow((self.x(place), top + 1), (at + off, box - 1), BLUE)
        self.sheet.box(at - wide / 2, box, wide, high, "white", edgecolor=BLUE, linewidth=0.9)
        self.sheet.text(at, box + high / 2, f"thread {one.thread}", SMALL, BLUE)

    def row(self, y, numbers, left, new):
        for place, number in enumerate(numbers):
            fill, ink = ((BLUE, "white") if place in new else
                         ("white", INK) if place in left else (PALE, GREY))
            self.sheet.box(self.x(place) - self.WIDE / 2, y, self.WIDE, self.HIGH, fill,
                           edgecolor=PALE if place not in left else INK, linewidth=0.8)
            self.sheet.text(self.x(place), y + self.HIGH / 2, str(number), LARGE, ink,
                            weight="bold" if place in left else "normal")


def draw_traffic(before, after):
    """How often does each kernel go out to global memory? Each: (name, its Traffic)"""
    panels = [Panel(name, traffic) for name, traffic in (before, after)]
    sheet = Sheet(sum(panel.height for panel in panels) + 22)
    top = 0
    for panel in panels:
        panel.draw(sheet, top)
        top += panel.height
    sheet.arrow((130, top + 14), (130, top), BLUE)
    sheet.text(140, top + 7, "floats that the threads load", SMALL, ha="left")
    sheet.arrow((350, top), (350, top + 14), ORANGE)
    sheet.text(360, top + 7, "floats that they store; the numbers say how many", SMALL, ha="left")
    return sheet.figure


class Panel:
    """A kernel: a column per step, global memory below the SM and shared memory in it."""
    LEFT, RIGHT, HIGH = 124, 826, 24
    WAYS = (("load", BLUE, -12), ("store", ORANGE, 12))

    def __init__(self, name, traffic):
        self.name, self.steps = name, {}
        for view in traffic:
            for barriers, space, use, floats in view.moved:
                step = self.steps.setdefault((view.title, barriers), {})
                step[space, use] = step.get((space, use), 0) + floats
        self.spaces = {space for step in self.steps.values() for space, _ in step}
        self.threads = 170 if "shared" in self.spaces else 62  # Where their row begins.
        self.height = self.threads + 168

    def total(self, use):
        return sum(step.get(("global", use), 0) for step in self.steps.values())

    def draw(self, sheet, top):
        sheet.text(10, top + 16, f"{self.name}: {self.total('load'):,} floats loaded from global "
                   f"memory, {self.total('store'):,} stored there", LARGE, ha="left",
                   weight="bold")
        threads, border = top + self.threads, top + self.threads + 62
        sheet.box(4, top + 32, 822, border - top - 32, "#F7F7F7")
        sheet.line([(4, border), (826, border)], INK, 2)
        sheet.text(10, border - 12, "inside the SM", SMALL, GREY, ha="left")
        sheet.text(10, threads + 12, "threads at work", ha="left")
        self.memory(sheet, "global", border + 36)
        if "shared" in self.spaces:
            self.memory(sheet, "shared", threads - 72)
        wide = (self.RIGHT - self.LEFT) / len(self.steps)
        for k, ((title, _), step) in enumerate(self.steps.items()):
            x = self.LEFT + wide * (k + 0.5)
            words = "result" if title == "result" else f"step {k + 1}"
            sheet.text(x, top + 45, words, SMALL)
            self.column(sheet, x, wide, threads, border, step)

    def memory(self, sheet, space, y):
        sheet.box(self.LEFT, y, self.RIGHT - self.LEFT, self.HIGH, PALE)
        sheet.text(10, y + self.HIGH / 2, f"{space} memory", ha="left", weight="bold")

    def column(self, sheet, x, wide, threads, border, step):
        adds = max(floats for (_, use), floats in step.items() if use == "store")
        sheet.box(x - wide / 2 + 4, threads, wide - 8, self.HIGH, "white", edgecolor=INK,
                  linewidth=0.8)
        sheet.text(x, threads + self.HIGH / 2, f"{adds:,}", SMALL)
        for (use, color, dx), space in itertools.product(self.WAYS, ("global", "shared")):
            if (space, use) in step:
                self.way(sheet, x + dx, space, use, color, threads, border, step[space, use])

    def way(self, sheet, x, space, use, color, threads, border, floats):
        """An arrow between the threads and a memory, and the number behind it."""
        near, far = ((threads + self.HIGH + 1, border + 35) if space == "global" else
                     (threads - 1, threads - 72 + self.HIGH + 1))
        sheet.arrow(*(((x, far), (x, near)) if use == "load" else ((x, near), (x, far))), color)
        down = 1 if space == "global" else -1
        beyond = far + down * (self.HIGH + (10 if use == "load" else 26))
        sheet.text(x, beyond, f"{floats:,}", SMALL, color)
