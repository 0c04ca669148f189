#!/usr/bin/env python3
"""See that the executor finds what is wrong with each tests/wrong/programs/*.cu, nested/*.cu and hopper/*.cu.

The first line of a program says what must be found in its report:

    // finds: race, block (0,0,0), thread (31,0,0), says TEXT

the kind; then block and thread, where they are certain; then a part of the
message. `note` before the kind: it is no error, and the program ends with 0.
The kind `error`: a call is refused, and stderr says TEXT. The finding's line
ends with `// <- here`, that of the other access with `// <- other`; of a race
either may be named first. <kind>.fixed.cu is the corrected twin: it finds
`nothing`, and not a word is said. Some are built a second time, as students debug
(-G): the same must be found.
"""

import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile


from ladder import pages, together

FOLDER = pages.ROOT / "tests" / "wrong" / "programs"
NESTED = pages.ROOT / "tests" / "wrong" / "nested"  # Their kernels launch kernels: built with -rdc=true.
HOPPER = pages.ROOT / "tests" / "wrong" / "hopper"  # They use wgmma: built for sm_90a.
# Those of them whose PTX is so different with -G that something else was found, once.
UNOPTIMISED = frozenset("""
    activemask assertion bad_mask guess launch_pointer local_underrun missing_lane missing_lanes
    not_cooperative race_async race_async_barrier race_async_group race_async_refill race_async_source
    race_atomic_read race_block_atomic race_count race_grid_turns race_mbarrier_init race_own_atomic
    race_plain_beside_atomic race_polled race_read_only race_reset race_surface race_swap race_swap_short race_texture
    race_zero race_zeros same_level same_level_indirect same_mbarrier shared_overrun trap uninitialised_addend
    uninitialised_address uninitialised_atomic uninitialised_exchange uninitialised_lane
    uninitialised_variable
    """.split())
AT_ONCE = 2
SECONDS = 60
FIRST = re.compile(r"// finds: (?P<note>note )?(?P<kind>[a-z ]+?)"
                   r"(?:, block (?P<block>\([\d,]+\)))?(?:, thread (?P<thread>\([\d,]+\)))?"
                   r"(?:, says (?P<says>.+))?\n")
EXTENT = ("block", "thread")


@dataclasses.dataclass(frozen=True)
class Expected:
    kind: str
    note: bool
    places: dict  # "block" and "thread", where they are certain.
    says: str
    lines: dict  # "here" and "other", where they are marked.


def read(source):
    text = source.read_text()
    first = FIRST.match(text)
    if not first:
        raise pages.Problem(f"{source.name}: the first line must be '// finds: KIND, ...'")
    lines = {}
    for number, line in enumerate(text.splitlines(), 1):
        for mark in ("here", "other"):
            if line.endswith(f"// <- {mark}"):
                if mark in lines:
                    raise pages.Problem(f"{source.name}:{number}: a second '<- {mark}'")
                lines[mark] = number
    kind, fixed = first["kind"], source.name.endswith(".fixed.cu")
    if fixed != (kind == "nothing"):
        raise pages.Problem(f"{source.name}: a twin finds nothing, and only a twin")
    if ("here" in lines) != (kind not in ("nothing", "error")):
        raise pages.Problem(f"{source.name}: mark the line that is found with '// <- here'")
    places = {name: json.loads("[%s]" % first[name][1:-1]) for name in EXTENT if first[name]}
    return Expected(kind, bool(first["note"]), places, first["says"] or "", lines)


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: int | None  # None: it hung.
    said: str
    findings: list
    miscounted: bool = False  # A place was found in more launches than there were.


def run(program, source):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        try:
            done = subprocess.run([program], timeout=SECONDS, text=True, errors="replace", cwd=folder,
                                  env=together.environment(pages.ROOT, source) | {"SIMT_REPORT": str(report)},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return Outcome(None, "", [])
        told = json.loads(report.read_text()) if report.is_file() else {"launches": [], "findings": []}
    findings = [f for one in told["launches"] for f in one["findings"]]
    findings += [one["first"] for one in told["findings"]]  # Some are of no launch: a copy, the host.
    launches = len(told["launches"])
    miscounted = any(0 < launches < one["launches"] and one["first"]["line"] for one in told["findings"])
    return Outcome(done.returncode, together.plain(done.stderr), findings, miscounted)


def fits(expected, finding, source):
    """Why this is not the finding that is expected, or None."""
    if finding["note"] != expected.note:
        return "it is a note" if finding["note"] else "it is no note"
    if pathlib.Path(finding["file"]).name != source.name:
        return f"its file is '{finding['file']}'"
    found = {"here": finding["line"]}
    if "other" in expected.lines:
        found["other"] = finding.get("other", {}).get("line")
    if found != expected.lines and sorted(map(str, found.values())) != sorted(
        map(str, expected.lines.values())
    ):
        return f"its lines are {found}, not {expected.lines}"
    for name, place in expected.places.items():
        if finding[name] != place:
            return f"its {name} is {finding[name]}, not {place}"
    if expected.says not in finding["message"]:
        return f"it does not say '{expected.says}': {finding['message']}"
    return None


def judge(expected, outcome, source):
    """Why the program was not judged as it should be, or None."""
    if outcome.status is None:
        return f"it hung for {SECONDS} s"
    if outcome.miscounted:
        return "a place was found in more launches than there were"
    if expected.kind == "nothing":
        clean = outcome.status == 0 and not outcome.said and not outcome.findings
        return None if clean else "it must be silent and end with 0"
    if (outcome.status == 0) != expected.note:
        return f"it ended with status {outcome.status}"
    if expected.kind == "error":
        return None if expected.says in outcome.said else f"nobody said '{expected.says}'"
    others = sorted({f["kind"] for f in outcome.findings if f["kind"] != expected.kind and not f["note"]})
    if others:
        return f"there is also: {', '.join(others)}"
    near = [f for f in outcome.findings if f["kind"] == expected.kind]
    if not near:
        return f"there is no '{expected.kind}'"
    why = [fits(expected, f, source) for f in near]
    if None not in why:
        return "; ".join(why)
    if f"{source.name}:{near[why.index(None)]['line']}" not in outcome.said:
        return "it is in the report, and nobody said so"
    return None


def twin(name):
    stem = name.removesuffix(".cu")
    return f"{stem.removesuffix('.fixed')}.cu" if stem.endswith(".fixed") else f"{stem}.fixed.cu"


def collect(tally):
    """Every program, with what must be found in it."""
    sources = [source for folder in (FOLDER, NESTED, HOPPER) for source in sorted(folder.glob("*.cu"))]
    expectations = {}
    for source in sources:
        if not source.with_name(twin(source.name)).is_file():
            tally.fail(f"{source.name} has no twin {twin(source.name)}")
        try:
            expectations[source] = read(source)
        except pages.Problem as problem:
            tally.fail(str(problem))
    return expectations


def build(expectations):
    """Every program: its source, what runs it or what the compiler said, and how it was built."""
    programs = []
    for place, folder in (FOLDER, ""), (NESTED, "linked"), (HOPPER, "hopper"):
        those = [source for source in expectations if source.parent == place]
        with_g = [source for source in those if place == HOPPER or source.name.split(".")[0] in UNOPTIMISED]
        for sources, where, how in (those, folder, ""), (with_g, f"{folder}/unoptimised".lstrip("/"), " with -G"):
            built = together.build(pages.ROOT, "cpu", together.gather(sources), ".program", where)
            programs += [(source, built[source], how) for source in sources]
    return programs


def main():
    tally = pages.Tally()
    expectations = collect(tally)
    programs = build(expectations)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = pool.map(lambda p: None if isinstance(p[1], str) else run(p[1], p[0]), programs)
        for (source, built, how), outcome in zip(programs, outcomes):
            name, expected = source.name + how, expectations[source]
            if outcome is None:
                tally.fail(f"{name} does not compile and link:\n{built[-2000:]}")
            elif trouble := judge(expected, outcome, source):
                tally.fail(f"{name}: {trouble}\n{outcome.said[-2000:]}")
            else:
                tally.ok(f"{name}: {expected.kind}")
    return tally.close("program with a finding")


if __name__ == "__main__":
    sys.exit(main())
