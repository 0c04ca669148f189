"""What a trace can hold: the bytes and banks that lanes want, who is active, who owns which
element, what is under way when, what the lanes of a warp hand each other; and of a sum who adds what
to what, where the numbers come from, and what happens to a number that many add to. traces.py
records these, drawings.py says who draws them."""

import dataclasses
import itertools
import math
import types

from ladder.pages import Problem

FLOAT = 4  # bytes
LANES = 32
WARP_ROUNDS = 5  # Of shuffles, each of which doubles what a lane knows.
SECTOR = 32  # bytes
BANKS, BANK = 32, 4  # so many, each of so many bytes


@dataclasses.dataclass(frozen=True)
class Access:
    """One load of a warp: the first byte that each lane wants, and how many."""
    title: str
    n: int
    array: str
    bytes: int
    first: dict  # lane -> offset in the array, or in the block's shared memory

    def touched(self):
        """{sector: {lane: bytes of it that the lane wants}}"""
        found = {}
        for lane, first in self.first.items():
            for byte in range(first, first + self.bytes):
                lanes = found.setdefault(byte // SECTOR, {})
                lanes[lane] = lanes.get(lane, 0) + 1
        return dict(sorted(found.items()))

    def banks(self):
        """{bank: {lane: word in shared memory that the lane wants of it}}"""
        found = {}
        for lane, first in self.first.items():
            word = first // BANK
            found.setdefault(word % BANKS, {})[lane] = word
        return found

    def wavefronts(self):
        """A bank serves one word a wavefront, to all the lanes that want it."""
        return max(len(set(words.values())) for words in self.banks().values())


@dataclasses.dataclass(frozen=True)
class Sides:
    """What a warp first reads of a square matrix, and what it first writes of another."""
    title: str
    n: int
    read: Access
    written: Access

    @property
    def side(self):
        """Elements of a row."""
        return math.isqrt(self.n)


@dataclasses.dataclass(frozen=True)
class Owners:
    """Which thread of which block takes which element, round by round."""
    n: int
    blocks: int  # of the launch
    block: int  # threads of each
    takes: dict  # block -> [of a round: {thread: element}]

    @property
    def step(self):
        return self.blocks * self.block


@dataclasses.dataclass(frozen=True)
class Order:
    """The loads and stores of a warp's lanes, in the order of execution."""
    title: str
    n: int
    accesses: list  # [use, bytes of a lane]

    def bytes_before_store(self):
        """What a lane has asked for when it first waits for it."""
        loads = itertools.takewhile(lambda access: access[0] == "load", self.accesses)
        return sum(bytes_ for _, bytes_ in loads)

    def bytes_loaded(self):
        return sum(bytes_ for use, bytes_ in self.accesses if use == "load")


def reading(**read):
    """What makes an object of what a tracer below has written down, with some of it read by these functions."""
    return lambda data: types.SimpleNamespace(**{
        name: read[name](value) if name in read else value for name, value in data.items()})


def words_of(text):
    return [int(word, 16) for word in text.split()]


def sectors_loaded(view, events):
    return _loads(view, events, "global")


def banks_loaded(view, events):
    if any(event["bytes"] > BANK for event in events):
        raise Problem(f"'{view.code[0]}' loads more than one bank's width a lane: "
                      "that takes several phases, which no figure shows yet")
    return _loads(view, events, "shared")


def _of_first_warp(events, use, space=None):
    return [event for event in events if event["warp"] == 0 and event["use"] == use
            and space in (None, event.get("space"))]


def _access(view, event, array, title=""):
    return {"title": title, "n": view.n, "array": array, "bytes": event["bytes"],
            "first": {str(lane["lane"]): lane["offset"] for lane in event["lanes"]}}


def _loads(view, events, space):
    found = _of_first_warp(events, "load", space)
    if len(found) != len(view.titles):
        raise Problem(f"'{view.code[0]}' loads {len(found)} times from {space} memory, "
                      f"where the page has {len(view.titles)} titles")
    return [_access(view, event, view.array, title)
            for title, event in zip(view.titles, found) if title]


def sides(view, events):
    """The first load and the first store that the first warp makes in global memory."""
    if math.isqrt(view.n) ** 2 != view.n:
        raise Problem(f"{view.n:,} elements are no square matrix")
    found = {"title": view.title, "n": view.n}
    for side, use, array in (("read", "load", "x"), ("written", "store", "y")):
        of_use = _of_first_warp(events, use, "global")
        if not of_use:
            raise Problem(f"'{' '.join(view.code)}' has no {use} from or to global memory in the first warp")
        found[side] = _access(view, of_use[0], array)
    return [found]


def read_sides(data):
    return Sides(**data | {side: read_access(data[side]) for side in ("read", "written")})


def steps_taken(view, events):
    """Which threads of a block work at each step: a mask of lanes a warp. Of the stores; between two
    barriers a thread stores once at most."""
    warps = -(-events[0]["block"] // LANES)
    steps = {}
    for event in events:
        if event["use"] != "store":
            continue
        masks = steps.setdefault(event["barriers"], [0] * warps)
        lanes = sum(1 << lane["lane"] for lane in event["lanes"])
        if masks[event["warp"]] & lanes:
            raise Problem(f"'{view.code[0]}' stores twice between two barriers: "
                          "there are no steps to tell apart")
        masks[event["warp"]] |= lanes
    if not steps:
        raise Problem(f"'{view.code[0]}' stores nothing")
    return [{"title": title, "n": view.n,
             "masks": [" ".join(f"{mask:08x}" for mask in masks)
                       for masks in steps.values()]} for title in view.titles]


def owners(view, events):
    """Of the loads: the k-th of a thread is its k-th round's."""
    takes = {}
    for event in events:
        if event["use"] != "load":
            continue
        rounds = takes.setdefault(event["number"], [])
        for lane in event["lanes"]:
            thread = 32 * event["warp"] + lane["lane"]
            k = sum(thread in taken for taken in rounds)
            if k == len(rounds):
                rounds.append({})
            rounds[k][thread] = lane["offset"] // FLOAT
    return [{"n": view.n, "blocks": events[0]["blocks"], "block": events[0]["block"],
             "takes": {str(number): [_runs(taken) for taken in rounds]
                       for number, rounds in takes.items()}}]


def _runs(taken):
    """{0: 7, 1: 8, 2: 9} -> "0:7:3": so many neighbours in neighbouring threads"""
    found = []
    for thread, element in sorted(taken.items()):
        if found and (thread, element) == (sum(found[-1][::2]), sum(found[-1][1:])):
            found[-1][2] += 1
        else:
            found.append([thread, element, 1])
    return " ".join("{}:{}:{}".format(*run) for run in found)


def read_owners(data):
    def taken(text):
        runs = [map(int, run.split(":")) for run in text.split()]
        return {thread + k: element + k for thread, element, count in runs for k in range(count)}

    return Owners(**data | {"takes": {int(number): [taken(text) for text in rounds]
                                      for number, rounds in data["takes"].items()}})


def order(view, events):
    return [{"title": view.title, "n": view.n,
             "accesses": [[event["use"], event["bytes"]] for event in events
                          if event["warp"] == 0]}]


def vote(view, events):
    """What the lanes of a warp put into it: a bit of each."""
    event, = _expected(view, events, "vote", 1)
    word = sum(one["value"] << one["lane"] for one in event["lanes"])
    return [{"title": view.title, "n": view.n, "word": f"{word:08x}"}]


def exchange(view, events):
    """A butterfly: in each round a lane gets the word of the lane `far` from it."""
    return _rounds(view, _expected(view, events, "exchange", 3))


def joined(view, events):
    """Of the first butterfly; a warp may join others' sums by a second one."""
    found = _of_first_warp(events, "exchange")
    if len(found) < WARP_ROUNDS:
        raise Problem(f"'{view.code[0]}' comes to {len(found)} shuffles of the first warp, "
                      f"where {WARP_ROUNDS} join all lanes")
    return _rounds(view, found[:WARP_ROUNDS])


def _rounds(view, events):
    rounds = []
    for event in events:
        far = {lane["with"] for lane in event["lanes"]}
        if len(far) != 1:
            raise Problem(f"'{view.code[0]}' has lanes that look differently far")
        rounds.append([far.pop(), " ".join(f"{one['value']:08x}" for one in event["lanes"])])
    return [{"n": view.n, "rounds": rounds}]


def meeting(view, events):
    """Of a launch whose blocks leave a word each, but for the last, which takes them."""
    leave = sorted({event["number"] for event in events if event["use"] == "store"})
    last = events[0]["blocks"] - 1
    if leave != list(range(last)):
        raise Problem(f"'{view.code[0]}': of {last + 1} blocks {leave} store, where all but the last should")
    return [{"n": view.n, "blocks": last + 1}]


def _expected(view, events, use, count):
    found = _of_first_warp(events, use)
    if len(found) != count:
        raise Problem(f"'{view.code[0]}' comes to {len(found)} {use}s of the first warp, "
                      f"where {count} were expected")
    return found


def launches(view, events):
    """How many blocks the launch has."""
    return [{"n": view.n, "blocks": events[0]["blocks"]}]


def read_access(data):
    return Access(**data | {"first": {int(k): v for k, v in data["first"].items()}})


# ---- Of a sum ----------------------------------------------------------------


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


TRACERS = {"lanes": sectors_loaded, "sides": sides, "banks": banks_loaded, "active": steps_taken,
           "owners": owners, "order": order, "vote": vote, "exchange": exchange,
           "joined": joined, "meeting": meeting, "tree": additions, "traffic": floats_moved, "race": uses_of_one,
           "queue": additions_to_one, "launches": launches}
ROUNDS = reading(rounds=lambda rounds: [(far, words_of(words)) for far, words in rounds])
READERS = {"lanes": read_access, "sides": read_sides, "banks": read_access,
           "active": reading(masks=lambda steps: list(map(words_of, steps))), "owners": read_owners,
           "order": lambda data: Order(**data), "vote": reading(word=lambda word: int(word, 16)),
           "exchange": ROUNDS, "joined": ROUNDS, "meeting": reading(), "tree": _read_tree, "traffic": reading(), "race": reading(),
           "queue": reading(), "launches": reading()}
