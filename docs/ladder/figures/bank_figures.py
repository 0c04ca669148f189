"""Draws shared memory as it is dealt out to its banks, and what a warp wants of it."""

from ladder.figures.canvas import BLUE, INK, ORANGE, PALE
from ladder.figures.sheet import LARGE, SMALL, Sheet
from ladder.figures.trace_kinds import BANK, BANKS

CELL = 11
LEFT, RIGHT = 58, 470  # Where the grids begin.
HEAD, FOOT = 64, 22  # Above a grid and below it.


def draw_conflicts(accesses):
    """What is a bank conflict? The last one takes the room of all the others."""
    *short, tall = accesses
    rows = rows_of(tall)
    each = (rows * CELL - (len(short) - 1) * (HEAD + FOOT)) // len(short) // CELL
    sheet = Sheet(HEAD + rows * CELL + FOOT + 44)
    for k, access in enumerate(short):
        draw_words(sheet, LEFT, HEAD + k * (each * CELL + HEAD + FOOT), each, access)
    draw_words(sheet, RIGHT, HEAD, rows, tall)
    explain(sheet)
    return sheet.figure


def draw_padding(accesses):
    """How does one more word per row mend a conflict?"""
    rows = max(map(rows_of, accesses))
    sheet = Sheet(HEAD + rows * CELL + FOOT + 44)
    for x, access in zip((LEFT, RIGHT), accesses):
        draw_words(sheet, x, HEAD, rows, access)
    explain(sheet, "; black: padding, which nobody wants")
    return sheet.figure


def rows_of(access):
    return max(words_of(access)) // BANKS + 1


def words_of(access):
    return [word for lanes in access.banks().values() for word in lanes.values()]


def draw_words(sheet, x, y, rows, access):
    """A row per 32 words, a column per bank; coloured where a lane wants the word."""
    wavefronts = access.wavefronts()
    sheet.text(x, y - 50, access.title, LARGE, ha="left", weight="bold")
    sheet.text(x, y - 32, told(access, wavefronts), ha="left",
               color=INK if wavefronts == 1 else ORANGE)
    sheet.text(x - 8, y - 12, "bank", SMALL, ha="right")
    for bank in (*range(0, BANKS, 8), BANKS - 1):
        sheet.text(x + (bank + 0.5) * CELL, y - 12, str(bank), SMALL)
    for row in range(0, rows, 4):
        word = str(row * BANKS) if row else "word 0"
        sheet.text(x - 8, y + (row + 0.5) * CELL, word, SMALL, ha="right")
    cells(sheet, x, y, range(rows * BANKS), PALE)
    cells(sheet, x, y, pads(access, rows), INK)
    for bank, lanes in access.banks().items():
        words = set(lanes.values())
        color = BLUE if len(words) == 1 else ORANGE
        cells(sheet, x, y, words, color)
        sheet.text(x + (bank + 0.5) * CELL, y + rows * CELL + 10, str(len(words)), SMALL, color)
    sheet.text(x - 8, y + rows * CELL + 10, "wanted", SMALL, ha="right")


def told(access, wavefronts):
    return (f"lanes {numbered(apart(access), 'word')} apart: {numbered(wavefronts, 'wavefront')}")


def numbered(count, thing):
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def apart(access):
    """How far the second lane's word lies behind the first one's."""
    return (access.first[1] - access.first[0]) // BANK


def cells(sheet, x, y, words, color):
    for word in words:
        sheet.box(x + word % BANKS * CELL + 0.5, y + word // BANKS * CELL + 0.5,
                  CELL - 1, CELL - 1, color)


def pads(access, rows):
    """Words that are no numbers: those behind every 32, where rows are longer than that."""
    longer = apart(access)
    return [word for word in range(rows * BANKS) if longer > BANKS <= word % longer]


def explain(sheet, more=""):
    """What a cell is, below everything."""
    height = sheet.axes.get_ylim()[0]
    for y, words in ((34, "Each cell is a word of shared memory; coloured: one of the 32 lanes "
                      f"wants it{more}."),
                     (15, "Wanted: how many words a bank has to hand out. It takes one "
                      "wavefront for each; all banks work at the same time.")):
        sheet.text(LEFT, height - y, words, SMALL, ha="left")
