"""Draws who sends what when, around a ring and along a tree."""

import dataclasses
import re

from ladder.figures.canvas import BLUE, GREY, INK, ORANGE, PALE
from ladder.figures.sheet import Sheet
from ladder.measured.records import RecordError

LEFT, TOP, COLUMN, ROW, CELL, GAP = 74, 62, 122, 46, 13, 30
TITLE = re.compile(r"(\w+), step (\d+): (.+)")
MESSAGE = re.compile(r"(\d+)-(adds|gives)->(\d+):(\d+)\.\.(\d+)")


@dataclasses.dataclass(frozen=True)
class Message:
    sender: int
    receiver: int
    adds: bool
    parts: range


def read_steps(text):
    """Name -> for each step its messages."""
    found = {}
    for line in text.splitlines():
        title = TITLE.fullmatch(line)
        messages = [MESSAGE.fullmatch(word) for word in title[3].split()] if title else [None]
        if None in messages:
            raise RecordError(f"'{line}' tells of no step of an all-reduce")
        found.setdefault(title[1], []).append(
            [Message(int(m[1]), int(m[3]), m[2] == "adds", range(int(m[4]), int(m[5]) + 1)) for m in messages])
    if not found:
        raise RecordError("what was printed tells of no all-reduce")
    return found


def draw_messages(shown):
    """Which rank has what to do in which step?"""
    ways = read_steps(shown[0].text)
    ranks = 1 + max(m.sender for steps in ways.values() for step in steps for m in step)
    tall = TOP + ranks * ROW + GAP
    sheet = Sheet(tall * len(ways) - GAP + 12)
    for number, (name, steps) in enumerate(ways.items()):
        draw_way(sheet, number * tall, name, steps, ranks)
    return sheet.figure


def draw_way(sheet, top, name, steps, ranks):
    sheet.write(LEFT - 62, top + 16, f"around a {name}" if name == "ring" else f"along a {name}", 14, weight="bold")
    for number in range(len(steps)):
        sheet.text(LEFT + number * COLUMN + 2 * CELL, top + 42, f"step {number + 1}", color=GREY)
    for rank in range(ranks):
        y = _middle(top, rank)
        sheet.write(LEFT - 62, y, f"rank {rank}")
        sheet.line([(LEFT, y), (LEFT + len(steps) * COLUMN, y)], PALE, 2, zorder=0)
    for number, step in enumerate(steps):
        for message in step:
            draw_message(sheet, LEFT + number * COLUMN, top, message, ranks)


def draw_message(sheet, x, top, message, parts):
    """The parts of the sender's vector that go, and an arrow to the rank that gets them."""
    color = BLUE if message.adds else ORANGE
    y = _middle(top, message.sender)
    for part in range(parts):
        goes = part in message.parts
        sheet.box(x + part * CELL, y - 8, CELL - 1, 16, color if goes else "white", edgecolor=GREY, linewidth=0.5)
        if goes:
            sheet.text(x + part * CELL + CELL / 2, y, part, 11, color="white")
    sheet.arrow((x + parts * CELL + 2, y), (x + COLUMN - 4, _middle(top, message.receiver)), INK)


def _middle(top, rank):
    return top + TOP + rank * ROW + ROW / 2 - 4
