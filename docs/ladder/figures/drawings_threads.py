"""Draws which thread has which element, and when blocks have a place."""

import re

from ladder.figures.canvas import BLUE, GREY, ORANGE, PALE, boxes
from ladder.figures.sheet import WIDTH, Sheet

WARP = 32
LEFT = 14


# ---- Grid, block, warp, thread ----------------------------------------------


def draw_threads(shown):
    """From the grid down to one thread, and the element that it takes."""
    owners = shown[0].views[0]
    number, warp = 1, 2  # Which block, and which of its warps, are looked into.
    sheet = Sheet(358)
    full = WIDTH - 2 * LEFT
    wide = full / owners.blocks

    sheet.write(LEFT, 14, f"the grid: {owners.blocks} blocks of {owners.block} threads, "
                f"for n = {owners.n:,} elements", weight="bold")
    for block, rounds in owners.takes.items():
        draw_block(sheet, LEFT + block * wide, wide, block, rounds[0], owners.block,
                   block == number)

    taken = owners.takes[number][0]
    warps = owners.block // WARP
    narrow = full / warps
    zoom(sheet, (LEFT + number * wide, wide - 4), 92, (LEFT, full - 4), 128)
    sheet.write(LEFT, 116, f"block {number}: {warps} warps, each {WARP} threads that run "
                "together", weight="bold")
    for k in range(warps):
        x = LEFT + k * narrow
        sheet.box(x, 128, narrow - 4, 44, ORANGE if k == warp else BLUE)
        first = taken[k * WARP]
        sheet.write(x + narrow / 2 - 2, 142, f"warp {k}", color="white", ha="center", weight="bold")
        sheet.write(x + narrow / 2 - 2, 159, f"i = {first} to {first + WARP - 1}", 11.5,
                    color="white", ha="center")

    zoom(sheet, (LEFT + warp * narrow, narrow - 4), 172, (LEFT, full), 214)
    sheet.write(LEFT, 199, f"warp {warp} of block {number}: threadIdx.x of its {WARP} threads, "
                "and below it the element i of each", weight="bold")
    cell = full / WARP
    for lane in range(WARP):
        thread = warp * WARP + lane
        x = LEFT + lane * cell
        sheet.box(x, 214, cell - 1.5, 26, PALE)
        sheet.box(x, 244, cell - 1.5, 26, ORANGE)
        sheet.write(x + cell / 2 - 0.7, 227, thread, 11, ha="center")
        sheet.write(x + cell / 2 - 0.7, 257, taken[thread], 11, ha="center", color="white")

    thread = warp * WARP
    x = LEFT + cell / 2
    sheet.arrow((x, 298), (x, 274))
    sheet.write(x - 6, 310, f"i  =  blockIdx.x × blockDim.x + threadIdx.x  =  {number} × "
                f"{owners.block} + {thread}  =  {taken[thread]}", 13, weight="bold")
    sheet.write(x - 6, 335, "Threads side by side in a block have elements side by side in "
                "the array.")
    return sheet.figure


def draw_block(sheet, x, wide, block, taken, threads, looked_into):
    """Blue as far as its threads have an element."""
    part = len(taken) / threads
    sheet.box(x, 30, wide - 4, 62, "white", edgecolor=GREY, linewidth=0.8)
    sheet.box(x, 30, (wide - 4) * part, 62, ORANGE if looked_into else BLUE)
    middle = x + (wide - 4) * part / 2
    for y, words in ((44, f"block {block}"), (61, f"threads 0 to {max(taken)}"),
                     (78, f"i = {min(taken.values())} to {max(taken.values())}")):
        sheet.write(middle, y, words, color="white", ha="center",
                    weight="bold" if y == 44 else "normal")
    if part < 1:
        sheet.arrow((x + wide - 60, 104), (x + (wide - 4) * (1 + part) / 2, 88))
        sheet.write(x + wide - 4, 112, f"{threads - len(taken)} threads too many: i < n is "
                    "false", 11.5, ha="right")


def zoom(sheet, above, top, below, bottom):
    """From a box, to what is drawn large under it."""
    (x, wide), (left, full) = above, below
    sheet.axes.fill([x, x + wide, left + full, left], [top, top, bottom, bottom],
                    color="#FBE9DF", linewidth=0, zorder=0)


# ---- Two rounds of the grid-stride loop -------------------------------------


def draw_rounds(shown):
    """The array, coloured by thread: after a whole grid the colours begin again."""
    owners = shown[0].views[0]
    sheet = Sheet(352)
    sheet.write(LEFT, 14, f"the array: {owners.n:,} elements, each in the colour of its "
                "thread", weight="bold")
    full = WIDTH - 2 * LEFT
    for begin in range(0, owners.n, owners.step):
        end = min(begin + owners.step, owners.n)
        x, right = (LEFT + at * full / owners.n for at in (begin, end))
        draw_strip(sheet, x, right - 3, (end - begin) / owners.step)
        sheet.write((x + right) / 2, 44, f"round {begin // owners.step + 1}: "
                    f"{end - begin:,}", color="white", ha="center", weight="bold")
    begin = LEFT + owners.step * full / owners.n
    sheet.bracket(LEFT, begin - 3, 66, 6)
    sheet.write((LEFT + begin) / 2, 84, f"step = {owners.blocks:,} blocks × {owners.block} "
                f"threads = {owners.step:,}", ha="center")

    sheet.write(LEFT, 122, "some threads of the grid, and their elements", weight="bold")
    columns = chosen_threads(owners)
    cell = (full - 70) / (len(columns) + 1)
    for y, words in ((149, "thread"), (184, "round 1"), (272, "round 2")):
        sheet.write(LEFT, y, words)
    for k, (number, thread) in enumerate(columns):
        gap = len({a for a, _ in columns[:k]} - {number})
        draw_thread(sheet, LEFT + 70 + k * cell + gap * cell / 2, cell - 4, owners, number, thread)
    for x in dots(columns, cell):
        for y in (149, 184, 272):
            sheet.write(x, y, "…", 16, ha="center")
    sheet.write(LEFT, 318, "Straight down: the same thread, one step further on in the "
                "array.  Side by side: neighbours in every round.")
    sheet.write(LEFT, 338, "Dashed: i < n is false, so the thread leaves the loop.")
    return sheet.figure


def chosen_threads(owners):
    """(block, thread of it): the first ones, those around the end, and the last ones."""
    first, middle, last = owners.takes
    end = len(owners.takes[middle][1])
    return [*((first, t) for t in range(4)), *((middle, t) for t in (end - 2, end - 1, end)),
            *((last, t) for t in (owners.block - 2, owners.block - 1))]


def dots(columns, cell):
    seen = 0
    for k, (number, _) in enumerate(columns):
        if k and columns[k - 1][0] != number:
            yield LEFT + 70 + k * cell + seen * cell / 2 + cell / 4 - 2
            seen += 1


def draw_thread(sheet, x, wide, owners, number, thread):
    color = color_at((number * owners.block + thread) / owners.step)
    middle = x + wide / 2
    sheet.write(middle, 149, f"{number * owners.block + thread:,}", 11, ha="center")
    for y, taken in zip((170, 258), owners.takes[number]):
        if thread in taken:
            sheet.box(x, y, wide, 28, color)
            sheet.write(middle, y + 14, f"{taken[thread]:,}", 11, color="white", ha="center")
    there = len(owners.takes[number]) > 1 and thread in owners.takes[number][1]
    if there:
        sheet.arrow((middle, 200), (middle, 256))
        sheet.write(middle + 4, 226, "+ step", 11)
    else:
        sheet.box(x, 258, wide, 28, "none", edgecolor=GREY, linewidth=0.8, linestyle=(0, (3, 2)))


def color_at(place):
    """From blue to orange, by the place in the grid; dark enough for white text."""
    stops = ((0, 0x5A, 0xA0), (0x8E, 0x2F, 0x8B), (0xBF, 0x4B, 0))
    k = min(int(2 * place), 1)
    part = 2 * place - k
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(stops[k], stops[k + 1]))


def draw_strip(sheet, x, right, end):
    """In the colours of the threads from the grid's first to its `end`."""
    pieces = 96
    count = max(1, round(pieces * end))
    wide = (right - x) / count
    for k in range(count):
        sheet.box(x + k * wide, 28, wide + (k < count - 1), 34, color_at(k / pieces))


# ---- Waves -------------------------------------------------------------------


def draw_waves(shown):
    """How much of the time are places empty, behind the last full wave?"""
    owners = shown[0].views
    wave = owners[0].blocks // waves_in(shown[0].code())
    sheet = Sheet(382)
    for top, one in zip((34, 204), owners[1:]):
        draw_places(sheet, top, one, wave)
    counts = [-(-one.blocks // wave) for one in owners[1:]]
    sheet.arrow((110, 356), (WIDTH - 20, 356))
    sheet.write(110, 370, "time from the first block to the last, if all blocks take equally "
                f"long; below it is {counts[1] / counts[0]:.3g} times as long as above", 11.5)
    return sheet.figure


def waves_in(code):
    return int(re.search(r"constexpr int kWaves = (\d+);", code)[1])


def draw_places(sheet, top, one, wave):
    """A column for each wave, as high as it has blocks."""
    high, left, right = 104, 110, WIDTH - 20
    count = -(-one.blocks // wave)
    wide = (right - left) / count
    last = one.blocks - (count - 1) * wave
    idle = 1 - one.blocks / (count * wave)
    sheet.write(LEFT, top - 18, f"n = {one.n:,}: {one.blocks:,} blocks, in waves of {wave:,}: "
                f"{count - 1} full, then {last} blocks alone", weight="bold")
    sheet.box(left, top, right - left, high, PALE)
    boxes(sheet.axes, [(left + k * wide, top) for k in range(count - 1)], wide - 2, high,
          color=BLUE)
    part = high * last / wave
    sheet.box(left + (count - 1) * wide, top + high - part, wide, part, ORANGE)
    for y, words in ((top + 12, f"{wave:,} places\nfor blocks"), (top + high - 6, "0")):
        sheet.write(left - 6, y, words, 11, ha="right")
    sheet.write(left - 6, top + high / 2 + 8, "blocks at\nwork", 11, ha="right")
    sheet.write(left + wide * (count - 1) / 2, top + high / 2, f"{count - 1} full wave"
                f"{'s' if count > 2 else ''}: all places are taken", color="white", ha="center",
                weight="bold", backgroundcolor=BLUE)
    if wide > 200:  # Else there is no room for words.
        sheet.write(right - wide / 2, top + high / 2 - 10, "the last wave:\n"
                    f"{100 * (1 - last / wave):.0f} % of the places are empty", ha="center")
        sheet.write(right - wide / 2, top + high - 14, f"{last} blocks", color=ORANGE,
                    ha="center", weight="bold")
    sheet.write(right, top + high + 14, f"over the whole time, {100 * idle:.0f} % of the places "
                "are empty", ha="right")
