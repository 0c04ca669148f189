"""The form of an exercise: the solution, in which blanks stand for some of its lines.

A blank says what its lines must do and how many there may be. What stands in it only
so that the file compiles says that it has to go:

    // >>> Your code, at most 2 lines: work out ...
    // and ...
    (void)rectify;  // Remove this line.
    // <<<
"""

import dataclasses
import re

from classroom.assignment import Problem

BEGIN = re.compile(r" *// >>> Your code, at most (\d+) lines?: (\S.*)")
COMMENT = re.compile(r" *// (\S.*)")
END = re.compile(r" *// <<<")
TO_GO = "  // Remove this line."


@dataclasses.dataclass(frozen=True)
class Blank:
    first: int  # Its lines in the exercise, counted from 1.
    last: int
    most: int  # So many lines of code may stand in it.
    contract: str


def split(text):
    """An exercise's blanks, and the pieces of text around them: one more."""
    blanks, pieces, inside = [], [[]], None
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        bare = line.rstrip("\n")
        if begin := BEGIN.fullmatch(bare):
            if inside:
                raise Problem(f"line {number}: the blank of line {inside.first} has not ended")
            inside = Blank(number, number, int(begin[1]), begin[2])
        elif not inside:
            pieces[-1].append(line)
        elif END.fullmatch(bare):
            blanks.append(dataclasses.replace(inside, last=number))
            pieces.append([])
            inside = None
        elif comment := COMMENT.fullmatch(bare):
            inside = dataclasses.replace(inside, contract=f"{inside.contract} {comment[1]}")
        elif not bare.endswith(TO_GO):
            raise Problem(f"line {number}: a blank holds its contract and lines that end with '{TO_GO.strip()}'")
    if inside:
        raise Problem(f"the blank of line {inside.first} does not end with '// <<<'")
    if not blanks:
        raise Problem("there is no blank: '// >>> Your code, at most 3 lines: what they must do', and '// <<<'")
    return blanks, ["".join(piece) for piece in pieces]


def answers(exercise, solution):
    """The solution's lines for each blank, where nothing else differs."""
    _, pieces = split(exercise)
    found = re.fullmatch("((?:.*\n)*?)".join(map(re.escape, pieces)), solution)
    if not found:
        raise Problem("outside of its blanks the exercise is not the solution")
    return list(found.groups())


def fill(exercise, lines):
    """The exercise with these lines in place of its blanks."""
    _, pieces = split(exercise)
    return "".join(piece + answer for piece, answer in zip(pieces, [*lines, ""]))


def code_lines(text):
    return sum(bool(line.strip()) and not line.lstrip().startswith("//") for line in text.splitlines())


def left(text):
    """The lines of a student's file that still say that they have to go."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(TO_GO)]
