"""Builds kernels for the student's commands and says what the executor counts of them.

A text is planted under a name that tells its contents, so what was built once stays.
"""

import collections
import re
import subprocess

from harness import built, counted

from classroom.assignment import ROOT, Problem

FOLDER = "build/classroom"
HUGE = "*2^31*"  # What a check is called that takes many GB.
SECONDS = 120  # A suite takes five; a kernel that hangs takes for ever.
FAILED = re.compile(r"^FAILED: (.*)", re.M)
FINDING = re.compile(r"^simt: (?!note:)([^\n]*)", re.M)


def plant(op, text):
    """Write a kernel where the Makefile can build it: its path from the root."""
    return built.plant(ROOT / FOLDER, op, text).relative_to(ROOT)


def build(paths):
    """Path -> its program, or what the compiler said; all by one make."""
    targets = {path: f"build/cpu/{path.with_suffix('.run')}" for path in dict.fromkeys(paths)}
    with built.alone(ROOT):
        said = built.make_each(ROOT, "cpu", targets.values())
    return {path: ROOT / target if said[target] is None else said[target] for path, target in targets.items()}


def failure(program):
    """What a program's checks say first: (check, finding of the executor), either '' if there is none."""
    command = [program, "--dt-exit", f"--dt-test-case-exclude={HUGE}"]
    try:
        done = built.told(command, cwd=ROOT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it did not end within {SECONDS} s", ""
    if done.returncode == 0:
        return "", ""
    check, finding = FAILED.search(done.stdout), FINDING.search(done.stdout)
    return check[1] if check else f"it ended with status {done.returncode}", finding[1] if finding else ""


def recorded(program, name="", *options):
    """(n, offset) -> what a program counts of that call with these options."""
    return counted.read(built.count(ROOT, program, name, *options))


def counter(program, wanted, case, usual=None):
    """The counter that a Bar or a Question names: a row of ./run's table, a sum of ncu's, or
    launch__grid_size. Each run checks everything first, so what has been counted already,
    `usual`, is looked at before."""
    call = case.n, case.offset
    whole = (usual or {}).get(call) or recorded(program, f".{case.n}.{case.offset}", f"--n={case.n}",
                                                f"--offset={case.offset}")[call]
    told = whole.of(wanted.kernel) if wanted.kernel else whole
    found = collections.Counter(launch__grid_size=sum(blocks for _, blocks, _ in told.launches))
    for metrics in told.metrics:
        found.update({name: value for name, value in metrics.items() if name.endswith(".sum")})
    found = dict(found) | {name: row.value for name, row in told.rows.items()}
    if wanted.counter not in found:
        raise Problem(f"nothing is counted as '{wanted.counter}'; there are {', '.join(found)}")
    return found[wanted.counter]


def missed(bars, program):
    """A sentence for each bar that a program does not reach."""
    usual = recorded(program)
    values = [(bar, counter(program, bar, bar.case, usual)) for bar in bars]
    return [bar.told(value) for bar, value in values if not bar.holds(value)]
