#!/usr/bin/env python3
"""Gets bandwidths wrong on purpose, for docs/how-not-to-measure.md.

    plots/pitfalls.py PROGRAM     `make pitfalls` calls it so

Runs build/gpu/plots/pitfalls.program, and ncu over the one of its kernels that
keeps shared memory busy; writes plots/data/<gpu>/<date>/pitfalls.json.
"""

import json
import pathlib
import subprocess
import sys

import bench
import parity
import records
from parity import ncu

NAME = "pitfalls.json"
SOURCE = pathlib.Path("plots/pitfalls.cu")
BUSIEST = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"


def newest(root, gpu=records.REFERENCE_GPU):
    """{name: {"wrong": number, "right": number}} and its context."""
    found = sorted(root.glob(f"plots/data/{gpu}/*/{NAME}"))
    if not found:
        raise records.RecordError(f"no pitfall was measured on {gpu}: run `make pitfalls` there")
    data = json.loads(found[-1].read_text())
    if data["context"]["source_sha256"] != records.sha256(root / SOURCE):
        raise records.RecordError(f"{found[-1].relative_to(root)} was measured by another "
                                  f"version of {SOURCE}: run `make pitfalls` again")
    return data["pitfalls"], data["context"]


def main(program):
    told = json.loads(parity.run_or_raise([program]))
    ((_, _, _, busy),) = ncu.read(parity.run_or_raise(
        ["ncu", *ncu.arguments([BUSIEST, DRAM]), program, "ncu"]), [BUSIEST, DRAM])
    told["busiest unit, %"] = {"wrong": busy[BUSIEST], "right": busy[DRAM]}
    context = parity.context() | {"command": "make pitfalls", "source": str(SOURCE),
                                  "source_sha256": records.sha256(bench.ROOT / SOURCE)}
    path = bench.DATA / records.gpu_folder(context["gpu"]) / context["date"] / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"context": context, "pitfalls": told}, indent=1) + "\n")
    for name, pair in told.items():
        print(f"{name:34} wrong {pair['wrong']:10,.4g}   right {pair['right']:10,.4g}")
    print(f"Wrote {path.relative_to(bench.ROOT)}.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except (records.RecordError, subprocess.CalledProcessError) as error:
        sys.exit(f"pitfalls: {error}")
