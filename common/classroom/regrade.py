"""Grades again what was graded, and shows what differs: `make regrade`.

    python -m classroom.regrade [DIR]    as classroom.grade, with the seed of each result

DIR is where the hand-ins are now, if they have moved. STUDENT (a folder, name or id) and CHAPTER or TASK
choose some; one alone is shown in full. Nothing in RESULTS changes. Exits 0 when grading went well,
whether or not it differs.
"""

import dataclasses
import os
import pathlib
import sys

from harness import script

from classroom import assignment, formats, grade, result
from classroom.assignment import Problem
from classroom.formats import terminal, text

MAY_DIFFER = {"student", "id", "seconds", "limit", "message", "counters", "checks", "time"}  # Checks are compared one by one.


def differences(before, now):
    """A line for each thing that is not what it was."""
    for field in dataclasses.fields(result.Result):
        then, today = getattr(before, field.name), getattr(now, field.name)
        if field.name not in MAY_DIFFER and then != today:
            yield f"{field.name}: {then}, now {today}"
    then, today = ({check.name: check for check in one.checks} for one in (before, now))
    for name in [*then, *(today.keys() - then.keys())]:
        points = [f"{side[name].points:g} of {side[name].of:g}" if name in side else "absent" for side in (then, today)]
        if points[0] != points[1]:
            why = today[name].why.splitlines() if name in today else []
            yield f"{name}: {points[0]}, now {points[1]}" + (f" ({why[0]})" if why else "")


def again(session, one, number):
    """(what it gets now, in lines what differs)."""
    path = session.hand_ins / one.file
    hand_in = grade.HandIn(assignment.find(one.assignment), pathlib.PurePath(one.file).parts[0], path)
    session = dataclasses.replace(session, seed=one.seed)
    now = grade.graded(session, hand_in, number)
    return now, list(differences(one, now))


def chosen(paths):
    """The results that are asked for."""
    student, names = os.environ.get("STUDENT"), grade.asked_for()
    found = {path: formats.loaded(path) for path in paths}
    return [one for path, one in found.items() if (not names or one.assignment in names) and
            (not student or student in (path.parents[1].name, one.student, one.id))]


def main(moved_to=""):
    results = pathlib.Path(os.environ.get("RESULTS") or "results")
    if not (before := chosen(formats.below(results))):
        raise Problem(f"{results} holds no such result: STUDENT is a folder, a name or an id")
    folder = moved_to or grade.remembered(results).get("hand_ins", "")
    if not os.path.isdir(folder):
        raise Problem(f"the hand-ins are not in '{folder}': make regrade DIR=folder says where they are")
    jobs = grade.jobs_at_once()
    session = grade.start(pathlib.Path(folder), results, before[0].seed)
    grade.build_judges({assignment.find(one.assignment).op for one in before})
    differ = 0
    for one, (now, found) in zip(before, grade.in_rooms(jobs, lambda one, number: again(session, one, number), before)):
        differ += bool(found)
        print(f"{one.student[:24]:24} {one.assignment:10} {'differs' if found else 'the same'}", flush=True)
        for line in found:
            print(f"    {line}")
        if len(before) == 1:
            print(terminal.of_results([text.cleaned(now)]), end="")
    print(f"{len(before) - differ} of {len(before)} are what they were.")


if __name__ == "__main__":
    script("regrade", main, *sys.argv[1:])
