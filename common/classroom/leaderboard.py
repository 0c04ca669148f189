"""Who needs least: hand-ins that lost no point for correctness or safety, ranked by a counter.

    python -m classroom.leaderboard FOLDER chapter07 "load requests"

Only by what is the same on every machine: requests, wavefronts, instructions. Never by time.
"""

import pathlib
import re
import sys

from harness import script

from classroom import formats
from classroom.assignment import Problem
from classroom.formats import text

# Rows of ./run's table: counts of these three, and no ratio of them.
COUNTED = re.compile(r"(load|store|reduction|atomic) requests|wavefronts of shared \w+|warp instructions")
STUDENT = 40  # Columns for a name.


def rankable(counter):
    return bool(COUNTED.fullmatch(counter))


def ranked(results, counter):
    """(rank, student, value), the least first; who ties shares a rank, and the next one is left out."""
    values = sorted((result.counters[counter], result.student) for result in results if counter in result.counters)
    counts = [value for value, _ in values]
    return [(counts.index(value) + 1, student, value) for value, student in values]


def board(results, assignment, counter):
    results = [r for r in results if r.assignment in (assignment, f"chapter{assignment:0>2}") and r.is_right]
    if not results:
        raise Problem(f"no hand-in of '{assignment}' is right and safe yet, so there is nothing to rank")
    counters = sorted({name for result in results for name in result.counters if rankable(name)})
    if counter not in counters:
        raise Problem(f"'{counter}' ranks nothing here; these do: {', '.join(counters) or 'none'}")
    return ranked(results, counter)


def main(folder, assignment, counter):
    results = [text.cleaned(formats.loaded(path)) for path in formats.below(pathlib.Path(folder))]
    for rank, student, value in board(results, assignment, counter):
        print(f"{rank:>4}  {text.fitted(student, STUDENT)} {value:>15,}")


if __name__ == "__main__":
    script("leaderboard", main, *sys.argv[1:])
