"""How long a load, a wavefront, a barrier, a step of a tree, an atomic addition take.

    python -m ladder.measured.latency PROGRAM     `make latency` calls it so, and `make bench` in the end

Runs build/gpu/plots/latency.program; records {name: nanoseconds}.
"""

import json
import sys

from ladder.measured.program_record import ProgramRecord
from ladder.pages import script
from ladder.toolchain import said_by

RECORD = ProgramRecord("latency")


def main(program):
    told = json.loads(said_by([program]))
    for name, ns in told.items():
        print(f"{name:24} {ns:8,.4g} ns")
    RECORD.write(told)


if __name__ == "__main__":
    script(RECORD.name, main, *sys.argv[1:])
