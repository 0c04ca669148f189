"""Writes every format anew for the results below a folder: after an array job, say.

    python -m classroom.formats FOLDER [ROSTER]
"""

import pathlib
import sys

from harness import script

from classroom import formats, roster
from classroom.formats import terminal


def main(folder, students=None):
    folder, students = pathlib.Path(folder), roster.read(pathlib.Path(students)) if students else {}
    print(terminal.of_results(formats.write_all(formats.below(folder), folder, students)), end="")


if __name__ == "__main__":
    script("formats", main, *sys.argv[1:])
