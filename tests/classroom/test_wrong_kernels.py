"""All of tests/wrong, handed in: what each kernel loses, and by which check."""

import pathlib
import re

import pytest
import wrong
from graded_class import contained, grade_of, judges, lost, new_class  # noqa: F401
from harness import patches
from ladder import pages

from classroom import assignment, explain, trial
from classroom.result import CORRECTNESS

PARTS = 4  # Behind one long test a worker would keep another file waiting.
# Their host does what no hand-in's can: they end sooner.
HOST_WORKS = {"relu.host_function.cu", "relu.on_the_host.cu", "reverse.host_function.cu"}


def rejected(made):
    """The contract's checks that failed by themselves."""
    return [check for check in lost(made) if check.kind == CORRECTNESS and check.why != explain.UNDONE and
            check.name != explain.COUNTED]


def asked_for(op, source, headers):
    """The last assignment of the contract that may include what the source does; not each can be handed in."""
    included = set(map(pathlib.Path, re.findall(r'^#include "(.+)"$', source.read_text(), re.M)))
    return next((one for one, may in headers if one.op == op and included <= may), None)


def misjudged(name, expected, made):
    if name in HOST_WORKS:
        return f"{name}: its host does the work" if grade_of(made)["right"] else None
    if expected.check == wrong.RIGHT:
        return None if grade_of(made)["right"] else f"{name}: it keeps its contract, and was rejected"
    first = next((check.name for check in rejected(made)), wrong.NO_CHECK)
    if grade_of(made)["right"] or first != expected.check.removeprefix(wrong.EXECUTOR):
        return f"{name}: {made.points:g} points, rejected by '{first}', not by '{expected.check}'"
    return None


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_kernels_lose_points_where_they_must(new_class, part):
    table = {name: expected for name, expected in wrong.read_table((wrong.FOLDER / "expected.txt").read_text()).items()
             if expected.finding != "passes"}
    some = new_class()
    sources = patches.sources(pages.ROOT, pytest.fail)
    headers = [(one, trial.headers_of(one)) for one in reversed(assignment.every())]
    asked = {name: one for name in table if (one := asked_for(name.split(".")[0], sources[name], headers))}
    names = [*asked][part::PARTS]
    for name in names:
        some.add(name, asked[name], sources[name])
    some.grade()
    graded = some.results_by_name()
    trouble = [misjudged(name, table[name], graded[name]) for name in names]
    assert not any(trouble), "\n".join(filter(None, trouble))
