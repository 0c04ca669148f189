"""Gets bandwidths wrong on purpose, for docs/how-not-to-measure.md.

    python -m ladder.measured.pitfalls PROGRAM     `make pitfalls` calls it so

Runs build/gpu/plots/pitfalls.program, and ncu over the one of its kernels that
keeps shared memory busy; records {name: {"wrong": number, "right": number}}.
"""

import json
import sys

from ladder import ncu
from ladder.measured.program_record import ProgramRecord
from ladder.pages import script
from ladder.toolchain import said_by

RECORD = ProgramRecord("pitfalls")
BUSIEST = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"


def main(program):
    told = json.loads(said_by([program]))
    said = said_by(["ncu", *ncu.arguments([BUSIEST, DRAM]), program, "ncu"])
    ((_, _, _, busy),) = ncu.read(said, [BUSIEST, DRAM])
    told["busiest unit, %"] = {"wrong": busy[BUSIEST], "right": busy[DRAM]}
    for name, pair in told.items():
        print(f"{name:34} wrong {pair['wrong']:10,.4g}   right {pair['right']:10,.4g}")
    RECORD.write(told)


if __name__ == "__main__":
    script(RECORD.name, main, *sys.argv[1:])
