"""Draws which thread of an engine reads which element, and who is in a team."""

import dataclasses
import itertools
import re

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE
from ladder.figures.sheet import WIDTH, Sheet
from ladder.measured.records import RecordError

MEMBERS = (BLUE, ORANGE, GREY, INK)
LEFT, TITLE, GAP = 14, 30, 26
TALL, SHORT = 24, 13  # A row of few, and of many.


@dataclasses.dataclass(frozen=True)
class Readers:
    """Of each element of a matrix, the thread that reads it."""
    title: str
    dimension: int
    rows: list

    @property
    def cell(self):
        return TALL if len(self.rows) < 8 else SHORT

    @property
    def height(self):
        return TITLE + self.cell * len(self.rows) + GAP

    def member(self, row, column):
        """The reader's place among those of the same result."""
        same = self.rows[row] if self.dimension else [r[column] for r in self.rows]
        return list(dict.fromkeys(same)).index(self.rows[row][column])


def read_readers(text):
    """Each block of lines that begins with a title."""
    found = []
    for line in text.splitlines():
        if title := re.fullmatch(r"(\d+ x \d+) over dimension (\d): teams of (\d+)", line):
            threads = f"{title[3]} thread" + ("s" if title[3] != "1" else "")
            found.append(Readers(f"{title[1]} elements, reduced over dimension {title[2]}: "
                                 f"{threads} per result", int(title[2]), []))
        elif found:
            found[-1].rows.append([int(thread) for thread in line.split()])
    if not found or not all(readers.rows for readers in found):
        raise RecordError("what was printed tells of no readers")
    return found


def draw_rows(shown):
    return draw_panels([readers for readers in read_readers(shown[0].text) if readers.dimension == 1])


def draw_columns(shown):
    return draw_panels([readers for readers in read_readers(shown[0].text) if readers.dimension == 0])


def draw_panels(panels):
    sheet, y = Sheet(sum(panel.height for panel in panels) - GAP + 4), 0
    for panel in panels:
        draw_panel(sheet, y, panel)
        y += panel.height
    return sheet.figure


def draw_panel(sheet, y, panel):
    sheet.write(LEFT, y + 14, panel.title, weight="bold")
    wide = (WIDTH - 2 * LEFT) / max(len(panel.rows[0]), 32)
    for row, threads in enumerate(panel.rows):
        top, column = y + TITLE + row * panel.cell, 0
        for thread, run in itertools.groupby(threads):
            length = len(list(run))
            color = MEMBERS[panel.member(row, column) % len(MEMBERS)]
            sheet.box(LEFT + column * wide, top, length * wide - 2, panel.cell - 2, color)
            sheet.write(LEFT + (column + length / 2) * wide - 1, top + panel.cell / 2 - 1, thread, 11,
                        color="white", ha="center")
            column += length
