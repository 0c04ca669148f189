"""What else is traced of a sum: who adds what to what, where the numbers come from, and
what happens to a number that many add to. traces.py records it."""

import dataclasses

from ladder.figures.trace_kinds import FLOAT, LANES, reading
from ladder.pages import Problem


@dataclasses.dataclass(frozen=True)
class Addition:
    """What a thread does in a step of a tree; where: the number's place in the array."""
    thread: int
    where: int
    partner: int  # The place of what it adds to it.


@dataclasses.dataclass(frozen=True)
class Tree:
    n: int
    steps: list  # of a step: [Addition]

    def strides(self):
        """How far each step's numbers lie apart."""
        return [step[0].partner - step[0].where for step in self.steps]


def _read_tree(data):
    return Tree(**data | {"steps": [[Addition(*one) for one in step] for step in data["steps"]]})


def additions(view, events):
    """Step by step; a number is where its sum is stored."""
    steps = {}
    for store in events:
        if store["use"] == "store":
            steps.setdefault(store["barriers"], []).extend(_additions(store, events))
    return [{"n": view.n, "steps": list(steps.values())}]


def _additions(store, events):
    loads = [event for event in events if event["use"] == "load" and all(
        event[key] == store[key] for key in ("warp", "barriers"))]
    for lane in store["lanes"]:
        loaded = {one["offset"] for load in loads for one in load["lanes"]
                  if one["lane"] == lane["lane"]} - {lane["offset"]}
        if len(loaded) != 1:
            raise Problem(f"a thread adds {len(loaded)} other numbers in a step")
        yield [_thread(store, lane), lane["offset"] // FLOAT, loaded.pop() // FLOAT]


def _thread(event, lane):
    return event["warp"] * LANES + lane["lane"]


def floats_moved(view, events):
    """How many the first block moves at a line: [barriers before it, global or shared, load or store, floats]."""
    moved = {}
    for event in events:
        key = event["barriers"], event["space"], event["use"]
        moved[key] = moved.get(key, 0) + len(event["lanes"]) * event["bytes"] // FLOAT
    return [{"title": view.title, "n": view.n,
             "moved": [[*key, floats] for key, floats in moved.items()]}]


def uses_of_one(view, events):
    """What the threads of a block do to one number, in order: [load or store or atomic, the threads that do it
    at once]. That is the number that is written; what else is loaded is not shown."""
    (shared,) = {(lane["allocation"], lane["offset"]) for event in events
                 if event["use"] != "load" for lane in event["lanes"]}
    uses = [[event["use"], [_thread(event, lane) for lane in event["lanes"]
                            if (lane["allocation"], lane["offset"]) == shared]]
            for event in events]
    return [{"title": view.title, "uses": [use for use in uses if use[1]]}]


def additions_to_one(view, events):
    """How often each block adds to one number; all should have been traced."""
    found = {number: [] for number in range(events[0]["blocks"])}
    for event in events:
        if event["use"] == "atomic":
            found[event["number"]] += event["lanes"]
    if len({(lane["allocation"], lane["offset"])
            for lanes in found.values() for lane in lanes}) != 1:
        raise Problem(f"'{view.code[0]}' does not add to one number")
    return [{"n": view.n, "additions": [len(lanes) for lanes in found.values()]}]


TRACERS = {"tree": additions, "traffic": floats_moved, "race": uses_of_one,
           "queue": additions_to_one}
READERS = {"tree": _read_tree, "traffic": reading(), "race": reading(), "queue": reading()}
