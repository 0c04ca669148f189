"""One JSON file of all results."""

import dataclasses
import json

from classroom.formats import text


def of_results(results):
    return json.dumps([one(result) for result in results], indent=1, allow_nan=False) + "\n"


def one(result):
    return {**dataclasses.asdict(result), "points": text.points(result.points), "of": text.points(result.of)}
