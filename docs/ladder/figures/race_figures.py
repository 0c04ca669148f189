"""Draws what happens to a number that several threads, or blocks, add to."""

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import LARGE, SMALL, Sheet

# What plots/examples/lost_update.cu begins with, and what its threads add.
BEGIN, ADDED = 10, (3, 4)
WHOLE = BEGIN + sum(ADDED)


def replay(race):
    """What is in memory at last, and each moment: (what is done, by which threads,
    what each of them holds then, what is in memory then)."""
    memory, held, moments = BEGIN, {}, []
    for use, threads in race.uses:
        if use == "load":
            held |= {thread: memory for thread in threads}
            moments.append(("load", threads, dict(held), memory))
        if use == "store":
            held = {thread: held[thread] + ADDED[thread] for thread in threads}
            moments.append(("add", threads, dict(held), memory))
            memory = held[threads[-1]]
            moments.append(("store", threads, dict(held), memory))
        if use == "atomic":
            for thread in threads:
                memory += ADDED[thread]
                moments.append(("atomicAdd", [thread], {}, memory))
    return memory, moments


def draw_race(races):
    """How is an addition lost, and how is it not?"""
    found = [replay(race) for race in races]
    rows = max(len(moments) for _, moments in found)
    sheet = Sheet(112 + 58 * rows + 44)
    for left, race, (end, moments) in zip((0, 424), races, found):
        draw_one(sheet, left, race, moments)
        draw_end(sheet, left, 130 + 58 * rows, end)
    sheet.line([(415, 8), (415, 148 + 58 * rows)], PALE, 2)
    return sheet.figure


def draw_one(sheet, left, race, moments):
    columns = [left + 110, left + 350]
    memory = left + 230
    sheet.text(left + 12, 18, race.title, LARGE, ha="left", weight="bold")
    sheet.text(memory, 48, "sum in memory", weight="bold")
    for x, added, thread in zip(columns, ADDED, range(2)):
        sheet.text(x, 41, f"thread {thread}")
        sheet.text(x, 56, f"adds {added}", SMALL)
    sheet.box(memory - 22, 66, 44, 26, "white", edgecolor=INK, linewidth=0.8)
    sheet.text(memory, 79, str(BEGIN), LARGE)
    sheet.arrow((left + 18, 84), (left + 18, 112 + 58 * len(moments)), GREY)
    sheet.text(left + 28, 84, "time", SMALL, GREY, ha="left")
    for k, (use, threads, held, value) in enumerate(moments):
        draw_moment(sheet, 126 + 58 * k, columns, memory, use, threads, held, value)


def draw_moment(sheet, y, columns, memory, use, threads, held, value):
    written = use in ("store", "atomicAdd")
    sheet.box(memory - 22, y - 13, 44, 26, BLUE if written else "white",
              edgecolor=INK, linewidth=0.8)
    sheet.text(memory, y, str(value), LARGE, "white" if written else INK)
    for thread in threads:
        x = columns[thread]
        inward = 1 if x < memory else -1
        words = {"load": f"loads {held.get(thread)}", "store": f"stores {held.get(thread)}",
                 "add": f"{held.get(thread, 0) - ADDED[thread]} + {ADDED[thread]} = "
                        f"{held.get(thread)}",
                 "atomicAdd": f"adds {ADDED[thread]}"}[use]
        lost = use == "store" and held[thread] != value
        below = "overwritten" if lost else "in one go" if use == "atomicAdd" else ""
        sheet.text(x, y, words, color=ORANGE if lost else INK)
        sheet.text(x, y + 16, below, SMALL, ORANGE if lost else INK)
        ends = (x + inward * 40, y), (memory - inward * 26, y)
        if use == "load":
            sheet.arrow(ends[1], ends[0], BLUE)
        elif use != "add":
            sheet.arrow(*ends, ORANGE if lost else BLUE)


def draw_end(sheet, left, y, end):
    sums = " + ".join(map(str, (BEGIN, *ADDED)))
    words = (f"{end}: right, {sums} = {WHOLE}" if end == WHOLE else
             f"{end} and not {sums} = {WHOLE}: {WHOLE - end} is lost")
    sheet.text(left + 12, y, words, LARGE, INK if end == WHOLE else ORANGE, ha="left",
               weight="bold")


def draw_queue(queue):
    """What happens when all blocks add to one number?"""
    left, high, blocks = 124, 26, len(queue.additions)
    wide = (818 - left) / sum(queue.additions)
    sheet = Sheet(80 + high * blocks + 30)
    sheet.text(12, 18, f"{blocks} blocks add to one number", LARGE, ha="left", weight="bold")
    sheet.text(left, 44, "time, in turns at that number", SMALL, GREY, ha="left")
    sheet.arrow((left + 178, 44), (818, 44), GREY)
    for turn in range(sum(queue.additions)):
        sheet.text(left + wide * (turn + 0.5), 64, str(turn + 1), SMALL)
    begin = left
    for block, additions in enumerate(queue.additions):
        y, end = 76 + high * block, begin + wide * additions
        sheet.text(12, y + 11, f"sum of block {block}", SMALL, ha="left")
        sheet.box(left, y, begin - left, high - 4, PALE)
        sheet.box(begin, y, end - begin, high - 4, BLUE)
        sheet.text((begin + end) / 2, y + 11, "is added", SMALL, "white")
        if block:
            sheet.text(begin - 8, y + 11, "waits", SMALL, GREY, ha="right")
        begin = end
    sheet.text(12, 94 + high * blocks, "If all sums come at once, the last one waits for all "
               "others. Twice as many blocks make a queue twice as long.", SMALL, ha="left")
    return sheet.figure
