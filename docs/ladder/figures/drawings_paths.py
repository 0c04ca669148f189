"""Draws how an engine cuts arrays into packs, by where they begin."""

import dataclasses
import itertools
import re

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE
from ladder.figures.sheet import WIDTH, Sheet
from ladder.measured.records import RecordError

LEFT, TITLE, CELL, TALL, GAP = 40, 28, 30, 24, 22
ALIGNED = 4  # Elements between two addresses that are multiples of 16.
TITLES = re.compile(r"x at (\d+), y at (\d+): packs of (\d+) behind (\d+)")


@dataclasses.dataclass(frozen=True)
class Cut:
    """The threads of all elements, in arrays that begin at these offsets."""
    offsets: dict
    width: int
    head: int
    threads: list

    @property
    def title(self):
        where = ", ".join(f"{name} {f'{o} too far' if o else 'aligned'}" for name, o in self.offsets.items())
        packs = f"packs of {self.width}" if self.width > 1 else "one by one"
        return f"{where}: {packs}" + (f", after a head of {self.head}" if self.head else "")

    def runs(self):
        """(first element, how many, their thread, whether they are a pack) of each access."""
        packs = (len(self.threads) - self.head) // self.width
        end = self.head + packs * self.width
        sizes = [1] * self.head + [self.width] * packs + [1] * (len(self.threads) - end)
        starts = itertools.accumulate(sizes, initial=0)
        return [(start, size, self.threads[start], size > 1) for start, size in zip(starts, sizes)]


def read_cuts(text):
    lines = text.splitlines()
    cuts = [Cut({"x": int(found[1]), "y": int(found[2])}, int(found[3]), int(found[4]), list(map(int, threads.split())))
            for title, threads in zip(lines[::2], lines[1::2]) if (found := TITLES.fullmatch(title))]
    if not cuts or 2 * len(cuts) != len(lines):
        raise RecordError("what was printed tells of no packs")
    return cuts


def draw_paths(shown):
    cuts = read_cuts(shown[0].text)
    each = TITLE + 2 * (TALL + 6) + GAP
    sheet = Sheet(each * len(cuts) - GAP + 8)
    for number, cut in enumerate(cuts):
        draw_cut(sheet, number * each, cut)
    return sheet.figure


def draw_cut(sheet, y, cut):
    sheet.write(LEFT, y + 13, cut.title, weight="bold")
    bottom = y + TITLE + 2 * (TALL + 6)
    for aligned in range(0, (WIDTH - LEFT) // CELL, ALIGNED):
        sheet.line([(LEFT + aligned * CELL, y + TITLE - 4), (LEFT + aligned * CELL, bottom)], GREY, 1, linestyle=":")
    for row, (name, offset) in enumerate(cut.offsets.items()):
        top = y + TITLE + row * (TALL + 6)
        sheet.text(LEFT - 18, top + TALL / 2, name, 13, color=INK)
        for first, size, thread, is_pack in cut.runs():
            left = LEFT + (offset + first) * CELL
            sheet.box(left + 1, top, size * CELL - 2, TALL, BLUE if is_pack else ORANGE)
            sheet.text(left + size * CELL / 2, top + TALL / 2, thread, 11.5, color="white")
