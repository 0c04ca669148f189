"""Grades again what was graded, and shows what differs: `make regrade`.

    python -m classroom.regrade [DIR]    as classroom.grade, with the seed of each result

DIR is where the hand-ins are now, if they have moved. Nothing in RESULTS changes. Exits 0 when grading went well, whether or not it differs.
"""

import dataclasses
import os
import pathlib
import sys

from harness import script

from classroom import assignment, formats, grade, result
from classroom.assignment import Problem

MAY_DIFFER = {"student", "id", "seconds", "message", "counters", "checks", "time"}  # Checks are compared one by one.


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
    """What differs now, in lines."""
    path = session.hand_ins / one.file
    hand_in = grade.HandIn(assignment.find(one.assignment), pathlib.PurePath(one.file).parts[0], path)
    session = dataclasses.replace(session, seed=one.seed)
    return list(differences(one, grade.graded(session, hand_in, number)))


def main(moved_to=""):
    results = pathlib.Path(os.environ.get("RESULTS") or "results")
    before = [formats.loaded(path) for path in formats.below(results)]
    folder = moved_to or grade.remembered(results).get("hand_ins", "")
    if not os.path.isdir(folder):
        raise Problem(f"the hand-ins are not in '{folder}': make regrade DIR=folder says where they are")
    jobs = grade.jobs_at_once()
    session = grade.start(pathlib.Path(folder), results, {}, before[0].seed)
    grade.build_judges({assignment.find(one.assignment).op for one in before})
    differ = 0
    for one, found in zip(before, grade.in_rooms(jobs, lambda one, number: again(session, one, number), before)):
        differ += bool(found)
        print(f"{one.student[:24]:24} {one.assignment:10} {'differs' if found else 'the same'}", flush=True)
        for line in found:
            print(f"    {line}")
    print(f"{len(before) - differ} of {len(before)} are what they were.")


if __name__ == "__main__":
    script("regrade", main, *sys.argv[1:])
