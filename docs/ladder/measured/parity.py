"""Counts every chapter, variant and test kernel with ncu and with the executor.

    python -m ladder.measured.parity [program...]     `make parity` names none: all

Needs a GPU and Nsight Compute, and writes plots/data/<gpu>/<date>/parity.json: of programs that
are named, beside what the newest such file knows of the others.
Without a GPU it counts the executor's side of each GPU's newest such file again.
"""

import dataclasses
import json
import pathlib
import re
import sys
import tempfile

from ladder import ncu, toolchain
from ladder.measured import bench, parity_data, program_record, records
from ladder.measured.parity_data import METRICS, Launch, Parity
from ladder.measured.records import RecordError
from ladder.pages import ROOT, script
from ladder.together import CHOICE, gather, plain
from ladder.together import build as build_together
from ladder.toolchain import said_by


def programs():
    """Every source that is compared, in order."""
    kernels = sorted(ROOT.glob("tests/parity/*.cu"))
    if not kernels:
        raise RecordError("tests/parity holds no .cu file")
    return [str(path.relative_to(ROOT)) for path in kernels + records.all_sources(ROOT)]


def binary(backend, program):
    kind = "counted" if program.startswith("chapters/") else "program"
    return f"build/{backend}/{pathlib.Path(program).with_suffix('')}.{kind}"


def build(backend, wanted):
    toolchain.made(ROOT, backend, *(binary(backend, program) for program in wanted))


# ---- The executor ------------------------------------------------------------


def build_for_executor(wanted):
    """Program -> the binary that runs it; those that are no chapter's share one."""
    own = [ROOT / program for program in wanted if not program.startswith("chapters/")]
    with toolchain.alone(ROOT):
        built = build_together(ROOT, "cpu", gather(own), ".program")
    for path, program in built.items():
        if isinstance(program, str):
            raise RecordError(f"{path.name} cannot be built:\n{program}")
    build("cpu", [program for program in wanted if ROOT / program not in built])
    return {program: built.get(ROOT / program) or binary("cpu", program) for program in wanted}


def count_by_executor(program, built):
    """[Launch] with an empty ncu side."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        # The checks would tell what they find; here only numbers matter.
        said_by([built], ROOT, **{CHOICE: program}, SIMT_REPORT=report.name, SIMT_CHECKS="off")
        launches = json.load(report)["launches"]
    return [Launch(ncu.short_name(plain(one["kernel"])), one["grid"], one["block"], {},
                   {m: parity_data.short(one["metrics"][m]) for m in METRICS})
            for one in launches]


# ---- ncu ---------------------------------------------------------------------


def count_by_ncu(program):
    """[Launch] with an empty executor side."""
    command = ["ncu", *ncu.arguments(METRICS), binary("gpu", program)]
    return launches_of(ncu.read(said_by(command, ROOT), METRICS))


def launches_of(told):
    """What ncu told, every metric of which must be there."""
    launches = []
    for kernel, grid, block, numbers in told:
        if lacking := set(METRICS) - numbers.keys():
            raise RecordError(f"ncu has no {', '.join(sorted(lacking))} of {kernel}")
        # A kernel without branches is uniform: ncu prints 0 % there.
        if numbers["smsp__sass_branch_targets.sum"] == 0:
            numbers["smsp__sass_average_branch_targets_threads_uniform.pct"] = 100.
        launches.append(Launch(kernel, grid, block, numbers, {}))
    return launches


# ---- Both --------------------------------------------------------------------


def together(program, theirs, ours):
    """Launches of both sides, matched in order."""
    if len(theirs) != len(ours):
        raise RecordError(f"{program}: ncu saw {len(theirs)} launches, the executor {len(ours)}")
    joined = []
    for k, (a, b) in enumerate(zip(theirs, ours)):
        if not a.same_launch(b):
            raise RecordError(f"{program}: launch {k} is {a.kernel} {a.grid} x {a.block} to ncu, "
                              f"{b.kernel} {b.grid} x {b.block} to the executor")
        joined.append(dataclasses.replace(b, ncu=a.ncu))
    return joined


def record_both(only):
    """Of some programs alone: beside what the newest record of this GPU knows of the others."""
    wanted = only or programs()
    version = re.search(r"Version (\S+)", said_by(["ncu", "--version"]))[1]
    told = program_record.context() | {"ncu": version, "command": "make parity"}
    build("gpu", wanted)
    built = build_for_executor(wanted)
    counted = {}
    for program in wanted:
        print(f"{program} ...", flush=True)
        counted[program] = together(program, count_by_ncu(program),
                                    count_by_executor(program, built[program]))
    path = records.recorded(ROOT, "parity.json", records.gpu_folder(told["gpu"])) if only else None
    if not path:
        return bench.place(told, "parity.json"), Parity(told, counted)
    return path, beside(parity_data.load(path, ROOT), counted, {"date": told["date"], "commit": told["commit"]})


def beside(known, counted, when):
    """What is known of the other programs stays, of the commit that it was counted at."""
    others = {program: tie for program, tie in known.ties.items() if program not in counted}
    return Parity(known.context, known.programs | counted, others, known.later | dict.fromkeys(counted, when))


def count_executor_again(known, wanted):
    """ncu's side as it is known, beside what the executor counts now."""
    counted = [program for program in wanted if program in known.programs]
    built = build_for_executor(counted)
    return Parity(known.context, {
        program: together(program, known.programs[program],
                          count_by_executor(program, built[program]))
        for program in counted}, known.ties, known.later)


def judge(parity):
    """Says what differs and is not explained; returns how much that is."""
    exceptions = [one for one in parity_data.read_exceptions(
                      (ROOT / parity_data.EXCEPTIONS).read_text())
                  if any(one.is_of(program) for program in parity.programs)]
    troubles = [f"{program}: {quantity}: {trouble}"
                for program, quantity, _, found in
                parity_data.judge(parity, exceptions) for trouble in found]
    print("\n".join(troubles))
    print(f"{len(troubles)} differences that {parity_data.EXCEPTIONS} does not explain; `make weave` tables all.")
    return len(troubles)


def main(*only):
    if bench.this_gpu() == "unknown":
        written = {}
        for path in parity_data.newest_of_each(ROOT):
            print(f"No GPU here: only the executor counts; ncu's side is that of "
                  f"{path.relative_to(ROOT)}.")
            written[path] = count_executor_again(parity_data.load(path, ROOT), programs())
    else:
        written = dict([record_both(only)])
    for path, parity in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(parity_data.text_of(parity, ROOT))
    return 1 if judge(parity_data.merged(list(written.values()))) else 0


if __name__ == "__main__":
    script("parity", main, *sys.argv[1:])
