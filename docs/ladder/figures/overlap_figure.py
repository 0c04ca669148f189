"""Draws two launches over time: the second one behind the first, and begun before it is done."""

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import LARGE, SMALL, WIDTH, Sheet

LEFT, HIGH, FETCH, LATER = 100, 32, 110, 140
ENDS = (345, 220, 390, LEFT)  # Of the first launch's blocks: an example. The last place has none.
DONE = max(ENDS)
GAP, CHANGE = 84, 10  # Between two launches; between two blocks in one place.


def draw_overlap(shown):
    """Each file has the two launches of a call."""
    panel = 44 + HIGH * len(ENDS) + 40
    sheet = Sheet(14 + panel * len(shown))
    sheet.write(LEFT, 14, "time", SMALL, color=GREY)
    sheet.arrow((LEFT + 34, 14), (WIDTH - 12, 14), GREY)
    for top, trace, begins in zip(range(30, 999, panel), shown, (behind, early)):
        draw_launches(sheet, top, trace, begins)
    return sheet.figure


def behind(_):
    return DONE + GAP


def early(end):
    return end + CHANGE


def draw_launches(sheet, top, trace, begins):
    """A row for each of four places on the GPU."""
    first, second = trace.views
    name = trace.source.rpartition("/")[2]
    sheet.write(12, top + 12, f"{name}: {first.blocks} blocks add up, {second.blocks} normalise", LARGE, weight="bold")
    rows, bottom = top + 44, top + 44 + HIGH * len(ENDS)
    for row, end in enumerate(ENDS):
        y, begin = rows + HIGH * row, begins(end)
        fetched = begin + FETCH
        goes_on = max(DONE + CHANGE, fetched)
        sheet.write(12, y + 12, f"place {row + 1}", SMALL)
        if end > LEFT:
            draw_part(sheet, LEFT, end, y, PALE, "adds up")
        draw_part(sheet, begin, fetched, y, BLUE, "fetches packs")
        draw_part(sheet, goes_on, goes_on + LATER, y, ORANGE, "normalises")
        if goes_on > fetched:
            sheet.text((fetched + goes_on) / 2, y + 12, "waits", SMALL, GREY)
    if begins is behind:
        sheet.text(DONE + GAP / 2 + 4, rows + 12, "the gap", SMALL, GREY)
    sheet.line([(DONE + 4, rows - 8), (DONE + 4, bottom)], GREY, 1.5, linestyle=":")
    sheet.text(DONE + 4, bottom + 10, "the first launch is done", SMALL, GREY)


def draw_part(sheet, left, right, y, color, words):
    """Of a block's time."""
    sheet.box(left, y, right - left, HIGH - 8, color)
    sheet.text((left + right) / 2, y + 12, words, SMALL, INK if color == PALE else "white")
