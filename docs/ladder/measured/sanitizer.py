"""Who finds what: compute-sanitizer's four tools on the programs that are wrong.

    python -m ladder.measured.sanitizer FILE.json [PROGRAM.cu ...]

Builds every tests/wrong/programs/*.cu for the GPU at hand, runs each under each tool,
and writes what was found; or those that are named, beside what the newest record knows of
the others. Needs a GPU and compute-sanitizer.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

from ladder.measured import program_record, records
from ladder.measured.tie import tie
from ladder import toolchain
from ladder.pages import ROOT, script
from ladder.toolchain import said_by

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# Everything ends within seconds but what never ends.
PATIENCE = 40
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")
MESSAGE = re.compile(r"^=========\s+(?:Error: |Warning: )?(.+)$", re.M)


def verdict(tool, command):
    """What `tool` says of a program: its first message, "" if it is silent."""
    try:
        done = subprocess.run(["compute-sanitizer", "--tool", tool, "--print-limit", "1", command],
                              cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return "never ends"
    counts = [int(a or b) for a, b in SUMMARY.findall(done.stdout)]
    if not counts:
        raise SystemExit(f"{tool} on {command} gave no summary:\n{done.stdout}{done.stderr}")
    if not any(counts):
        return ""
    lines = [m for m in MESSAGE.findall(done.stdout)
             if not m.startswith(("COMPUTE-SANITIZER", "ERROR SUMMARY"))]
    return lines[0].strip() if lines else "found"


def wrong_programs(root):
    found = (root / "tests/wrong/programs").glob("*.cu")
    return sorted(path for path in found if not path.name.endswith(".fixed.cu"))


# ---- The table in docs/findings.md -------------------------------------------

AGAIN = "`PYTHONPATH=docs python3 -m ladder.measured.sanitizer` on a machine with a GPU"
FINDS = re.compile(r"^// finds: (?:error, says )?(.+?)(?:, (?:block|count).*)?$", re.M)


def newest(root):
    files = root.glob("plots/data/*/*/sanitizer.json")
    path = max(files, key=lambda path: path.parent.name, default=None)
    if not path:
        raise ValueError(f"plots/data has no sanitizer.json: run {AGAIN}")
    return records.opened(path)


def tools_that_find(root, name, report):
    """Those of compute-sanitizer, as a cell: whoever adds a program may have no GPU."""
    seen = report["programs"].get(name)
    if not seen:
        records.missing.append(f"compute-sanitizer was not run on {name}: run {AGAIN}")
        return "(not run yet)"
    records.note_stale(seen["tie"], tie(root, name),
                       f"compute-sanitizer was run on an earlier {name}: run {AGAIN}")
    tools = [t for t in TOOLS if seen[t] and seen[t] != "never ends"]
    ends = any(seen[t] == "never ends" for t in TOOLS)
    return ", ".join(tools) or ("(never ends)" if ends else "-")


def who_finds_what(root):
    """Header and rows: each wrong program, the executor's word, the tools'."""
    report = newest(root)
    rows = []
    for path in wrong_programs(root):
        name = path.relative_to(root).as_posix()
        finds = FINDS.search(path.read_text())
        if not finds:
            raise ValueError(f"{name} does not say '// finds: ...'")
        rows.append([f"`{path.stem}`", finds[1], tools_that_find(root, name, report)])
    runs = [report, *(one["later"] for one in report["programs"].values() if "later" in one)]
    when = " and ".join(dict.fromkeys(f"{run['date']}, commit {run['commit']}" for run in runs))
    caption = f"*{report['gpu']}, {report['tool']}, {when}.*"
    return ["program", "the executor says", "compute-sanitizer's tools"], rows, caption


def beside(known, report):
    """What was found later, with what an older record knows of the other programs."""
    if (known["gpu"], known["tool"]) != (report["gpu"], report["tool"]):
        raise SystemExit(f"the newest record is of {known['gpu']} and {known['tool']}: name no programs, "
                         "and all are run")
    later = {"date": report["date"], "commit": report["commit"]}
    return known | {"programs": known["programs"] | {
        name: one | {"later": later} for name, one in report["programs"].items()}}


def main(record, *names):
    if not shutil.which("compute-sanitizer"):
        raise SystemExit("compute-sanitizer is not on the PATH; it comes with the CUDA Toolkit")
    programs = [path.relative_to(ROOT) for path in wrong_programs(ROOT)]
    if unknown := set(names) - set(map(str, programs)):
        raise SystemExit(f"{', '.join(sorted(unknown))}: no such wrong program")
    programs = [path for path in programs if not names or str(path) in names]
    built = {path: "build/gpu" / path.with_suffix(".program") for path in programs}
    toolchain.made(ROOT, "gpu", *map(str, built.values()))
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() - 2)) as pool:
        jobs = {path: {tool: pool.submit(verdict, tool, str(built[path])) for tool in TOOLS} for path in programs}
    version = said_by(["compute-sanitizer", "--version"])
    report = program_record.context() | {
        "tool": "compute-sanitizer " + re.search(r"Version ([\d.]+\d)", version)[1],
        "programs": {
            path.as_posix(): {"tie": tie(ROOT, path), **{tool: job.result() for tool, job in found.items()}}
            for path, found in jobs.items()
        },
    }
    records.write(pathlib.Path(record), beside(newest(ROOT), report) if names else report)
    print(f"{len(programs)} programs under {len(TOOLS)} tools")


if __name__ == "__main__":
    script("sanitizer", main, *sys.argv[1:])
