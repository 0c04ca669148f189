"""Classroom 50's result.json of one hand-in: schemas/result-v1.schema.json in foundation50/classroom50.

What identifies a submission is only known where Classroom 50's runner grades it, and it says so
in the environment. Elsewhere there is nothing to write.
"""

import datetime
import json
import os

from classroom.formats import text

SCHEMA = "classroom50/result/v1"
FROM_RUNNER = {
    "classroom": "CLASSROOM", "assignment": "ASSIGNMENT", "assignment_type": "ASSIGNMENT_TYPE", "owner": "OWNER",
    "submission": "SUBMISSION_TAG", "commit": "COMMIT_URL", "release": "RELEASE_URL", "review": "REVIEW_URL",
}


def whole(parts):
    """Whole numbers that add up to the rounded sum, each within 1 of its part."""
    total, before, found = 0.0, 0, []
    for part in parts:
        total += part
        found.append(round(total) - before)
        before = round(total)
    return found


def tests(result):
    """Points are integers there. Whoever lost some of a check's gets the whole ones of the rest."""
    shares = whole(check.of for check in result.checks)
    for check, most in zip(result.checks, shares):
        passed = check.points >= check.of
        score = most if passed else min(int(most * check.points / check.of), most)
        yield {"test-name": check.name, "passed": passed, "score": score, "max-score": most, "output": text.why(check)}


def document(result, environment, now):
    graded = list(tests(result))
    return {
        "schema": SCHEMA,
        **{field: environment[name] for field, name in FROM_RUNNER.items()},
        "datetime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),  # The runner puts the commit's in its place.
        "score": sum(test["score"] for test in graded),
        "max-score": sum(test["max-score"] for test in graded),
        "tests": graded,
    }


def of_result(result):
    if not set(FROM_RUNNER.values()) <= os.environ.keys():
        return None
    now = datetime.datetime.now(datetime.timezone.utc)
    return json.dumps(document(result, os.environ, now), indent=1, allow_nan=False) + "\n"
