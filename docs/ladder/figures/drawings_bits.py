"""Draws bits: of a half, of a ballot, of the words that lanes join."""

import re

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import WIDTH, Sheet
from ladder.measured.records import RecordError

LANES = 32


# ---- A half ------------------------------------------------------------------


def draw_half(shown):
    """Sign, exponent, digits, and what they say together."""
    wanted, bits, value = read_half(shown[0])
    sign, exponent, digits = bits[0], bits[1:6], bits[6:]
    sheet = Sheet(262)
    cell, left = 46, 45
    sheet.write(left, 18, f"the half nearest to {minus_sign(wanted)}: 16 bits", 13, weight="bold")
    for k, bit in enumerate(bits):
        color = ORANGE if k == 0 else GREY if k < 6 else BLUE
        sheet.box(left + k * cell, 36, cell - 3, 40, color)
        sheet.write(left + k * cell + cell / 2 - 1.5, 57, bit, 19, color="white", ha="center",
                    weight="bold")
    power = int(exponent, 2) - 15
    for begin, end, lines in (
            (0, 1, ["sign", f"{sign}: {'minus' if sign == '1' else 'plus'}"]),
            (1, 6, ["exponent: 5 bits", f"{exponent} is {int(exponent, 2)}",
                    f"less 15: 2 to the power of {minus_sign(power)}"]),
            (6, 16, ["digits after the point: 10 bits",
                     f"{digits} is {int(digits, 2)} of 1024",
                     f"with the implied 1: 1 + {int(digits, 2)}/1024"])):
        x, right = left + begin * cell, left + end * cell - 3
        sheet.bracket(x, right, 82, 8)
        for k, words in enumerate(lines):
            sheet.write((x + right) / 2, 108 + 22 * k, words, 12.5, ha="center",
                        weight="bold" if k == 0 else "normal")
    sheet.write(WIDTH / 2, 196, f"{'−' if sign == '1' else ''}(1 + {int(digits, 2)}/1024) × "
                f"2$^{{{power}}}$  =  {minus_sign(value)}", 17, ha="center", weight="bold")
    off = abs(float(value) - float(wanted))
    sheet.write(WIDTH / 2, 234, f"The digits end after eleven binary ones, so it is off by "
                f"{off:.6f}." if off else "It is exact.", 12.5, ha="center")
    return sheet.figure


def minus_sign(number):
    return str(number).replace("-", "−")


def read_half(printed):
    match = re.search(r"(\S+) becomes 0x[0-9a-f]+: ([01]) ([01]{5}) ([01]{10}), which is (\S+)",
                      printed.text)
    if not match:
        raise RecordError(f"{printed.path.name} tells the bits of no half")
    wanted, *bits, value = match.groups()
    bits = "".join(bits)
    told = (1 + int(bits[6:], 2) / 1024) * 2.0 ** (int(bits[1:6], 2) - 15)
    if float(value) != (-told if bits[0] == "1" else told):
        raise RecordError(f"{printed.path.name}: the bits {bits} are not {value}")
    return wanted, bits, value


# ---- The ballot --------------------------------------------------------------


def draw_ballot(shown):
    """32 answers, and the word that every lane gets."""
    vote = shown[0].views[0]
    word = vote.word
    sheet = Sheet(248)
    cell, left = 23.2, 76

    def at(lane):  # A number is written with its last digit to the right.
        return left + (LANES - 1 - lane) * cell

    for y, words in ((20, "lane"), (50, vote.title), (142, "bit of\nthe word"), (190, "hex digit")):
        sheet.write(left - 8, y, words, ha="right")
    for lane in range(LANES):
        yes = word >> lane & 1
        x, middle = at(lane), at(lane) + cell / 2 - 1
        sheet.write(middle, 20, lane, 11, ha="center")
        sheet.box(x, 36, cell - 2, 28, BLUE if yes else PALE)
        sheet.write(middle, 50, "yes" if yes else "no", 11, ha="center",
                    color="white" if yes else INK)
        sheet.arrow((middle, 68), (middle, 124), color=BLUE if yes else "#B5B5B5")
        sheet.box(x, 128, cell - 2 if lane % 4 else cell - 5, 28, BLUE if yes else PALE)
        sheet.write(middle, 142, yes, 13, ha="center", color="white" if yes else INK,
                    weight="bold" if yes else "normal")
    for k in range(LANES // 4):
        x, right = at(4 * k + 3), at(4 * k) + cell - 5
        sheet.bracket(x, right, 162, 6, GREY)
        sheet.write((x + right) / 2, 190, f"{word >> 4 * k & 15:x}", 18, ha="center", weight="bold")
    sheet.write(left, 228, f"All {LANES} lanes get the same word, 0x{word:08x}: their "
                "32 answers in 4 bytes.", 12.5)
    sheet.text(left + 16 * cell, 96, "__ballot_sync", 14, family="monospace",
               backgroundcolor="white")
    return sheet.figure


# ---- The butterfly -----------------------------------------------------------

NIBBLES = 8
NIBBLE, SPACE = 10.2, 10
LEFT = 90


def draw_butterfly(shown):
    """Eight lanes with four bits each; after three shuffles each has all 32."""
    rounds = shown[0].views[0].rounds
    sheet = Sheet(388)
    words = [row[:NIBBLES] for _, row in rounds]
    far = [one for one, _ in rounds]
    words.append([word | words[-1][lane ^ far[-1]] for lane, word in enumerate(words[-1])])
    known = [{lane} for lane in range(NIBBLES)]
    for lane in range(NIBBLES):
        sheet.write(middle(lane), 16, f"lane {lane}", 13, ha="center", weight="bold")
    for k, row in enumerate(words):
        y = 34 + 88 * k
        before = known
        if k:
            sheet.write(10, y - 33, f"shuffle:\nfar = {far[k - 1]}", color=ORANGE)
            sheet.butterfly(y, far[k - 1], list(map(middle, range(NIBBLES))), 62, 4)
            known = [known[lane] | known[lane ^ far[k - 1]] for lane in range(NIBBLES)]
        sheet.write(10, y + 11, f"{4 * len(known[0])} bits")
        for lane, word in enumerate(row):
            draw_word(sheet, y, lane, word, known[lane], before[lane])
    sheet.write(10, 346, "A cell is four bits of the word, written as one hexadecimal digit. "
                "Blue: the lane has them already. Orange: they have just come.")
    sheet.write(10, 368, f"A lane's partner is far lanes away: {', then '.join(map(str, far))}. "
                "Its number differs in one bit.")
    return sheet.figure


def left_of(lane):
    return LEFT + (NIBBLES - 1 - lane) * (NIBBLES * NIBBLE + SPACE)


def middle(lane):
    return left_of(lane) + NIBBLES * NIBBLE / 2


def draw_word(sheet, y, lane, word, known, before):
    for nibble in range(NIBBLES):
        x = left_of(lane) + (NIBBLES - 1 - nibble) * NIBBLE
        color = PALE if nibble not in known else BLUE if nibble in before else ORANGE
        sheet.box(x, y, NIBBLE - 1, 22, color)
        if nibble in known:
            sheet.write(x + NIBBLE / 2 - 0.5, y + 11, f"{word >> 4 * nibble & 15:x}", 11.5,
                        color="white", ha="center")
