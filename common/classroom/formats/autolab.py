"""Autolab's autoresult of one hand-in, the last line of an autograder's output: docs/lab.md in autolab/Autolab."""

import json

from classroom.formats import text
from classroom.result import CORRECTNESS, EFFICIENCY, SAFETY


def document(result):
    """An Autolab lab has problems of just these names."""
    return {"scores": {
        kind: text.points(sum(check.points for check in result.checks if check.kind == kind))
        for kind in (CORRECTNESS, SAFETY, EFFICIENCY)}}


def of_result(result):
    return json.dumps(document(result), allow_nan=False) + "\n"
