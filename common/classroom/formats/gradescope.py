"""Gradescope's results.json of one hand-in: gradescope-autograders.readthedocs.io, "Autograder Specifications"."""

import json

from classroom.formats import text
from classroom.result import CORRECTNESS, EFFICIENCY, SAFETY

# When students see a check: visible, after_due_date, after_published or hidden. With any of
# them hidden, Gradescope shows them no total.
VISIBILITY = {CORRECTNESS: "visible", SAFETY: "visible", EFFICIENCY: "visible"}


def document(result):
    return {
        "score": text.points(result.points),
        "execution_time": round(result.seconds),
        "output": result.message or "Graded.",
        "output_format": "text",  # As the default, simple_format, HTML would be taken for what it says.
        "stdout_visibility": "hidden",
        "tests": [*map(test, result.checks), *timed(result)],
        "extra_data": {name: getattr(result, name) for name in (
            "assignment", "sha256", "status", "seed", "commit", "compiler", "executor", "contained", "counters", "time")},
    }


def test(check):
    return {
        "name": check.name,
        "name_format": "text",
        "score": text.points(check.points),
        "max_score": text.points(check.of),
        "status": "passed" if check.points >= check.of else "failed",
        "output": text.why(check),
        "output_format": "text",
        "tags": [check.kind],
        "visibility": VISIBILITY.get(check.kind, "visible"),
    }


def timed(result):
    """Information: what has no max_score is worth nothing."""
    if time := text.time(result):
        yield {"name": "time on a GPU, without points", "output": time, "output_format": "text", "name_format": "text",
               "visibility": "visible"}


def of_result(result):
    return json.dumps(document(result), indent=1, allow_nan=False) + "\n"
