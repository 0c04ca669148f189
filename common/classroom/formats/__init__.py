"""Grades in the forms that others read: write_all makes every file anew from the result.json files.

    python -m classroom.formats FOLDER [ROSTER]    the same for all results below a folder

A file is replaced at once, by a rename, so whatever exists is whole.
"""

import dataclasses

from classroom import result
from classroom.assignment import Problem
from classroom.formats import (
    autolab, classroom50, figure, gradescope, junit, markdown, tables, text)

# Beside each result.json.
OF_A_HAND_IN = {
    "gradescope.json": gradescope.of_result,
    "classroom50.json": classroom50.of_result,
    "autolab.json": autolab.of_result,
}
# In the folder of all; a hand-in cannot have one of these names for its folder.
OF_THE_CLASS = ("summary.csv", "canvas.csv", "junit.xml", "summary.md", "results.json", "points.svg")


def write_all(paths, folder, roster=None):
    """All formats of these result.json files: of each beside it, of all of them in `folder`.

    The roster, folder -> Student, says what students are called now. Returns the results, fit to be shown."""
    students = {result.folder_of(folder): student for folder, student in (roster or {}).items()}
    found = {path: text.cleaned(named(path, students)) for path in paths}
    for path, one in found.items():
        for name, write in OF_A_HAND_IN.items():
            if (content := write(one)) is not None:
                text.write(path.with_name(name), content)
    results = list(found.values())
    by_folder = [(path.parents[1].name, one) for path, one in found.items()]
    contents = (tables.summary(results), tables.canvas(by_folder, students), junit.of_results(results),
                markdown.of_results(results), f"[{','.join(one.json() for one in results)}]\n",
                figure.of_results(results))
    for name, content in zip(OF_THE_CLASS, contents):
        text.write(folder / name, content)
    return results


def named(path, students):
    """A result; in its file, too, the student is who the roster says."""
    one = loaded(path)
    student = students.get(path.parents[1].name)
    if student and (one.student, one.id) != (student.name, student.id):
        one = dataclasses.replace(one, student=student.name, id=student.id)
        text.write(path, one.json())
    return one


def loaded(path):
    try:
        return result.load(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{path} is no result of ours ({error!r:.200}): remove it, and grade that hand-in again") from error


def below(folder):
    """Every result.json of a folder of results, in order."""
    found = sorted(folder.glob("*/*/result.json"))
    if not found:
        raise Problem(f"there is no result in {folder}: make grade DIR=... writes them")
    return found
