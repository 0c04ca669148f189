"""Draws how sums meet: the lanes of a warp by shuffles, the blocks of a grid in the last one."""

import struct

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import LARGE, SMALL, Sheet

LANES = 8  # That are drawn, of 32.
LEFT, WIDE = 110, 90


def floats(words):
    """Of their bits."""
    return struct.unpack(f"<{LANES}f", struct.pack(f"<{LANES}I", *words))


def draw_joined(shown):
    """Eight lanes of a warp; the last three shuffles add up what they have."""
    rounds = [(far, floats(words[:LANES])) for far, words in shown[0].views[0].rounds if far < LANES]
    far, last = rounds[-1]
    sums = [last[lane] + last[lane ^ far] for lane in range(LANES)]
    rows = [[f"{value:.2f}" for value in values] for values in (*(values for _, values in rounds), sums)]
    sheet = Sheet(70 + 84 * len(rounds) + 50)
    for lane in range(LANES):
        sheet.text(middle(lane), 16, f"lane {lane}", weight="bold")
    for k, row in enumerate(rows):
        y = 34 + 84 * k
        if k:
            far = rounds[k - 1][0]
            sheet.write(10, y - 32, f"shuffle:\naway = {far}", color=ORANGE)
            sheet.butterfly(y, far, list(map(middle, range(LANES))), 58, 3)
        sheet.write(10, y + 11, f"{2 ** (k + 2)} lanes' sum")
        for lane, words in enumerate(row):
            sheet.box(middle(lane) - 32, y, 64, 22, BLUE if row.count(words) == LANES else PALE)
            sheet.text(middle(lane), y + 11, words, SMALL, "white" if row.count(words) == LANES else INK)
    sheet.write(10, 70 + 84 * len(rounds) + 22, "Each lane adds the sum that comes to the one that it has. At the end all "
                "of them have the sum of all 32 lanes.", SMALL)
    return sheet.figure


def middle(lane):
    return LEFT + WIDE * lane + WIDE / 2 - 15


def draw_meeting(shown):
    """Blocks side by side over time: all but the last leave a word."""
    blocks = shown[0].views[0].blocks
    high, left, right = 34, 124, 818
    ends = [430 + 37 * (3 * k % 7) for k in range(blocks - 1)]  # An example.
    sheet = Sheet(96 + high * blocks + 34)
    sheet.text(12, 18, f"{blocks} blocks, one launch", LARGE, ha="left", weight="bold")
    sheet.text(left, 44, "time", SMALL, GREY, ha="left")
    sheet.arrow((left + 34, 44), (right, 44), GREY)
    bottom = 62 + high * (blocks - 1)
    for block in range(blocks):
        y, last = 62 + high * block, block == blocks - 1
        end = 470 if last else ends[block]
        sheet.text(12, y + 12, f"block {block}" + (", the last" if last else ""), SMALL, ha="left")
        sheet.box(left, y, end - left - 80, high - 10, PALE)
        sheet.text((left + end - 80) / 2, y + 12, "loads and adds", SMALL)
        if last:
            sheet.text((end + max(ends)) / 2 - 28, y + 12, "waits", SMALL, GREY)
            sheet.box(max(ends) + 26, y, right - max(ends) - 26, high - 10, ORANGE)
            sheet.text((max(ends) + 26 + right) / 2, y + 12, "adds, writes *out", SMALL, "white")
        else:
            sheet.box(end - 78, y, 78, high - 10, BLUE)
            sheet.text(end - 39, y + 12, "a word", SMALL, "white")
            sheet.arrow((end, y + 12), (end + 20, bottom - 2), BLUE)
    sheet.write(12, bottom + high + 14, "The last block has loaded its own numbers meanwhile. It can add when the "
                "slowest word is there, whichever that is.", SMALL)
    return sheet.figure
