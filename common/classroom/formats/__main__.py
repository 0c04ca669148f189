"""Writes every format anew for the results below a folder: after an array job, say."""

import pathlib
import sys

from harness import script

from classroom import formats, roster
from classroom.formats import terminal


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit("usage: python -m classroom.formats FOLDER [ROSTER]")
    folder, *rosters = map(pathlib.Path, arguments)
    students = roster.read(rosters[0]) if rosters else {}
    print(terminal.of_results(formats.write_all(formats.below(folder), folder, students)), end="")


if __name__ == "__main__":
    script("formats", main, sys.argv[1:])
