"""How long right hand-ins take on a GPU, beside the solution: `make grade TIMES=yes`.

Information, and never points: the harness takes the time with CUDA's events within the
hand-in's process, so what a hand-in says here it may have made up. It is compiled and run in a room
as before, but with the GPU's devices in it. The solution runs just before it, outside.
"""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import subprocess
import tempfile

from harness import built

from classroom import assignment, contain, explain
from classroom.assignment import ROOT, Problem
from classroom.trial import TICK, Trial

BUILD = pathlib.Path(os.environ.get("TIMERS", "build/gpu/grade"))
N = 1 << 26  # Elements: long enough for a clock, few enough for a small GPU.
MOST_RECORD = 1 << 20
SECONDS = 120  # For the solution, which takes a few.


def wanted():
    """Whether hand-ins are to be timed; refused where that is impossible."""
    if not assignment.is_yes("TIMES"):
        return False
    backend, _, why = subprocess.check_output([ROOT / "common/setup/backend.sh"], text=True).strip().partition(" ")
    if backend != "gpu":
        raise Problem(f"TIMES=yes times hand-ins on a GPU, and {why}. Leave it out, which costs no points, "
                      "or grade on a machine that has one. Nothing was graded")
    return True


def program_of(one):
    return ROOT / BUILD.parent / one.solution.relative_to(ROOT).with_suffix(".run")


def options(one, record):
    """The largest call of the chapter's benchmark that every GPU has room for."""
    return ["--checked", f"--record={record}", f"--benchmark_filter=^{one.op}/n:{N}/"]


def build(chosen):
    """The tools for hand-ins; what they and the solutions are linked with is built, and tried."""
    tools = BUILD / "tools"
    targets = [tools, *(BUILD / f"{one.op}.parts" for one in chosen), *(program_of(one).relative_to(ROOT) for one in chosen)]
    with built.alone(ROOT):
        done = built.make_aloud(ROOT, "gpu", "--silent", f"-j{os.cpu_count()}", *map(str, targets))
    if done.returncode:
        raise Problem("what hand-ins are timed with could not be built: see above. Leave TIMES=yes out, or mend it")
    for one in chosen:
        solution(one)
    compiler, linker, libraries, *folders = (ROOT / tools).read_text().splitlines()
    return contain.Tools(compiler, linker, tuple(folders), libraries=libraries, devices=contain.gpu_devices())


def solution(one):
    """(microseconds, the GPU's name) of the chapter's own kernel."""
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "record"
        command = [program_of(one), *options(one, record)]
        try:
            done = built.told(command, cwd=ROOT, timeout=SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Problem(f"the solution of {one.name} was not timed within {SECONDS} s: is the GPU in use?") from None
        if done.returncode:
            raise Problem(f"the solution of {one.name} cannot be timed here:\n{done.stdout.strip()}\n"
                          "Without TIMES=yes, hand-ins are graded all the same")
        data = record.read_bytes()
    return microseconds(data), json.loads(data)["context"]["gpu"]


def microseconds(record):
    """The median of a record with one benchmark; 0 if it is none of ours, which a hand-in's may be."""
    with contextlib.suppress(ValueError, TypeError, LookupError, OverflowError, RecursionError):
        found = float(json.loads(record)["benchmarks"][0]["p50_us"])
        return found if math.isfinite(found) and found > 0 else 0
    return 0


class Timing(Trial):
    """A hand-in that runs by itself, with the chapter's benchmark around it."""
    build, tries = BUILD, 1
    record = b""

    def command(self):
        return f"{{ ./hand_in {' '.join(options(self.one, 'record'))}; cat record >&3; }}"

    def try_once(self, room, folder, number, ours, told):
        """Until what runs it has closed its end."""
        ours.settimeout(TICK)
        while not self.trouble and len(self.record) < MOST_RECORD:
            try:
                if not (part := ours.recv(1 << 16)):
                    break
                self.record += part
            except TimeoutError:
                self.trouble = self.watch(room)
        return False


def compared(session, tools, hand_in, source):
    """What a result says of its time: a ratio, or why there is none."""
    expected, gpu = solution(hand_in.assignment)
    timing = Timing(dataclasses.replace(session, tools=tools), hand_in, source, 0)
    timing.run()
    if not (found := microseconds(timing.record)):
        why = timing.trouble or ("It ran, but left no time." if timing.compiled else "It does not compile for the GPU.")
        return {"why": f"{why} {explain.last_words(timing)}".strip()}
    return {"ratio": round(found / expected, 3), "us": round(found, 2), "solution_us": round(expected, 2), "n": N, "gpu": gpu}


def try_solutions(session, tools, solutions):
    """Each as if it were handed in: where it has no time, nobody else would have one, and be told so."""
    for hand_in in solutions:
        found = compared(session, tools, hand_in, hand_in.path.read_bytes())
        if "ratio" not in found:
            raise Problem(f"in the room of a hand-in, the solution of {hand_in.assignment.name} has no time. "
                          f"{found['why']}\nMend that, or leave TIMES=yes out. Nothing was graded")
