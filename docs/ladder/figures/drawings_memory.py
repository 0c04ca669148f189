"""Draws which bytes a warp's load fetches, and how many are under way at a time."""

from ladder.figures.canvas import BLUE, GREY, ORANGE, boxes
from ladder.figures.drawing import views
from ladder.figures.sheet import WIDTH, Sheet
from ladder.figures.trace_kinds import SECTOR

FLOAT = 4
ROW = 32 * FLOAT  # bytes of the array in a row of the drawing
VAIN = "#F5CDB4"  # fetched, and no lane wants it
UNTOUCHED = "#F1F1F1"
LEFT = 104
CELL = 21.6
LINE = 25


# ---- Sectors -----------------------------------------------------------------


def draw_lanes(accesses):
    """The array in rows of 32 floats: what is wanted, and what is fetched with it."""
    rows = [rows_of(access) for access in accesses]
    height = sum(62 + LINE * len(one) for one in rows) + 36
    sheet = Sheet(height)
    top = 0
    for access, some in zip(accesses, rows):
        draw_access(sheet, top, access, some)
        top += 62 + LINE * len(some)
    draw_key(sheet, height - 20, accesses, rows)
    return sheet.figure


def rows_of(access):
    sectors = access.touched()
    return range(min(sectors) * SECTOR // ROW, max(sectors) * SECTOR // ROW + 1)


def wanted_of(access):
    """{sector: bytes of it that any lane wants}"""
    return {sector: sum(lanes.values()) for sector, lanes in access.touched().items()}


def draw_access(sheet, top, access, rows):
    wanted = wanted_of(access)
    sheet.write(10, top + 16, f"{access.title}: {len(access.first)} lanes × {access.bytes} "
                f"bytes in {len(wanted)} sectors", 13, weight="bold")
    sheet.write(10, top + 40, f"bytes of {access.array}", 11)
    for k in range(ROW // SECTOR):
        x, wide = place(k * SECTOR), 8 * CELL
        sheet.bracket(x, x + wide - 2, top + 50, -4, GREY)
        sheet.write(x + wide / 2, top + 39, "a sector: 32 bytes", 11, ha="center", color=GREY)
    for row in rows:
        y = top + 54 + LINE * (row - rows[0])
        sheet.write(LEFT - 8, y + LINE / 2 - 2, f"{row * ROW:,} to {(row + 1) * ROW - 1:,}", 11,
                    ha="right")
        for k in range(ROW // SECTOR):
            sector = row * ROW // SECTOR + k
            color = VAIN if sector in wanted else UNTOUCHED
            boxes(sheet.axes, [(place(k * SECTOR) + j * CELL, y) for j in range(8)], CELL - 1,
                  LINE - 4, color=color)
    for lane, first in access.first.items():
        draw_lane(sheet, top + 54 - LINE * rows[0], lane, first, access.bytes)


def place(byte):
    """Where a byte of a row is drawn; sectors stand a little apart."""
    return LEFT + byte / FLOAT * CELL + byte // SECTOR * 4


def draw_lane(sheet, top, lane, first, bytes_):
    """Its number, across what it wants; a pack lies in one sector."""
    y = top + LINE * (first // ROW)
    wide = bytes_ / FLOAT * CELL - 1
    x = place(first % ROW)
    sheet.box(x, y, wide, LINE - 4, BLUE)
    sheet.write(x + wide / 2, y + LINE / 2 - 2, lane, 11, color="white", ha="center")


def draw_key(sheet, y, accesses, rows):
    """Of the colours that are there."""
    wanted = [wanted_of(access) for access in accesses]
    shown = {BLUE: "wanted by the lane of this number"}
    if any(bytes_ < SECTOR for one in wanted for bytes_ in one.values()):
        shown[VAIN] = "fetched with it, not wanted"
    if any(len(one) < len(some) * ROW // SECTOR for one, some in zip(wanted, rows)):
        shown[UNTOUCHED] = "not fetched"
    sheet.key(LEFT, y, shown)


# ---- Two matrices --------------------------------------------------------------

SHOWN = 32  # Rows and columns of a matrix, from its upper left corner.
ELEMENT = 7.5
PANEL = SHOWN * ELEMENT


def draw_sides(shown):
    """What a warp reads of one matrix, and what it writes of the other; a column each."""
    below = 64 + 2 * (PANEL + 34)
    sheet = Sheet(below + 26)
    apart = (WIDTH - 40) / len(shown)
    for k, one in enumerate(shown):
        x = 20 + k * apart
        sheet.write(x, 16, one.title, 13, weight="bold")
        for y, verb, access in ((56, "reads", one.read), (56 + PANEL + 34, "writes", one.written)):
            sheet.write(x, y - 15, f"{verb} {len(access.first) * access.bytes} bytes of {access.array} "
                        f"in {len(access.touched())} sectors", 11.5)
            draw_matrix(sheet, x, y, access, one.side)
    sheet.key(20, below + 3, {BLUE: "an element that the warp's first access wants",
                              VAIN: "in the same sector, not wanted"})
    return sheet.figure


def draw_matrix(sheet, left, top, access, side):
    cells = {color: set() for color in (UNTOUCHED, VAIN, BLUE)}
    wanted = {(first + byte) // FLOAT for first in access.first.values()
              for byte in range(0, access.bytes, FLOAT)}
    fetched = {sector * SECTOR // FLOAT + k for sector in access.touched()
               for k in range(SECTOR // FLOAT)}
    for row in range(SHOWN):
        for column in range(SHOWN):
            element = row * side + column
            color = BLUE if element in wanted else VAIN if element in fetched else UNTOUCHED
            cells[color].add((left + column * ELEMENT, top + row * ELEMENT))
    for color, corners in cells.items():
        boxes(sheet.axes, sorted(corners), ELEMENT - 1, ELEMENT - 1, color=color)


# ---- In flight ---------------------------------------------------------------

WAIT, STEP = 88, 37  # The width of a wait, and of an instruction.
HIGH = 4  # of a byte in flight
FLYING = "#9CC9E6"


def draw_flight(shown):
    """How often does the memory have to be waited for, to move the same floats?"""
    orders = views(shown)
    most = max(order.bytes_loaded() for order in orders)
    below = 130 * len(orders)
    sheet = Sheet(below + 48)
    sources = [trace.source for trace in shown for _ in trace.views]
    for k, (source, order) in enumerate(zip(sources, orders)):
        draw_order(sheet, 130 * k, source.removeprefix("chapters/"), order, most)
    sheet.arrow((LEFT, below + 20), (WIDTH - 14, below + 20))
    sheet.write(LEFT, below + 36, "memory instructions in the order of the trace; every wait is drawn "
                "equally long, and none to scale", 11.5)
    return sheet.figure


def draw_order(sheet, top, source, order, most):
    """In the room of one thread; where it moves less than others, the next one follows."""
    base, x = top + 116, LEFT
    threads = most // order.bytes_loaded()
    sheet.write(10, top + 20, order.title, 13, weight="bold")
    sheet.write(10, top + 38, source, 11.5, color=GREY)
    who = "one thread moves" if threads == 1 else f"{threads} threads, one after another, move"
    sheet.write(WIDTH - 14, top + 20, f"{who} {most // FLOAT} floats: "
                f"{threads} wait{'s' if threads > 1 else ''}", ha="right")
    sheet.write(LEFT - 8, base - 34, "bytes in\nflight", 11, ha="right")
    sheet.line([(LEFT, base), (WIDTH - 14, base)], GREY)
    for _ in range(threads):
        x = draw_one_thread(sheet, x, base, order) + 8


def draw_one_thread(sheet, x, base, order):
    """Its loads pile up; then it waits; then it stores. Returns where it ends."""
    flying = order.bytes_before_store()
    loads = [bytes_ for use, bytes_ in order.accesses if use == "load"]
    below, done = 0, x + STEP * len(loads) + WAIT
    for k, bytes_ in enumerate(loads):
        begin = x + STEP * k
        sheet.box(begin + STEP, base - HIGH * (below + bytes_), done - begin - STEP,
                  HIGH * bytes_ - 1, FLYING)
        draw_instruction(sheet, begin, base - HIGH * below, HIGH * bytes_, "load", BLUE)
        below += bytes_
    sheet.write(done - WAIT / 2, base - HIGH * flying / 2, f"{flying} bytes", ha="center",
                bbox={"color": FLYING, "pad": 1, "linewidth": 0})
    for use, bytes_ in order.accesses:
        if use == "store":
            draw_instruction(sheet, done, base, HIGH * bytes_, "store", ORANGE)
            done += STEP
    return done


def draw_instruction(sheet, x, base, high, words, color):
    high = max(high, 16)
    sheet.box(x, base - high, STEP - 2, high - 1, color)
    sheet.write(x + STEP / 2 - 1, base - high / 2, words, 11, color="white", ha="center")
