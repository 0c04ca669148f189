"""How long it takes that devices meet: NCCL's all-reduce, and sums of few numbers on several devices.

    python -m ladder.measured.all_reduce PROGRAM STEPS...     `make all_reduce` calls it so

PROGRAM is build/gpu/plots/all_reduce.program. Each of STEPS is a file that sums over devices, linked
with its contract's plots/<op>_steps.cu: build/gpu/FILE.steps. Records NCCL's times by number of devices
and bytes and, of each file, what a sum of few numbers takes, whole and without the meeting.
"""

import dataclasses
import json
import math
import pathlib
import sys

from ladder.measured import records
from ladder.measured.program_record import ProgramRecord
from ladder.pages import script
from ladder.toolchain import said_by

RECORD = ProgramRecord("all_reduce")
PLACES = ("out of place", "in place")


@dataclasses.dataclass(frozen=True)
class Told:
    """A record of it."""
    path: pathlib.Path
    context: dict
    rows: list  # Of NCCL's all-reduce.
    steps: dict  # File -> a row for each number of devices.

    @property
    def devices(self):
        return sorted({row["devices"] for row in self.rows})

    def sizes(self, devices):
        """In bytes."""
        return sorted({row["bytes"] for row in self.rows if row["devices"] == devices})

    def row(self, devices, size, place=PLACES[0]):
        return next(row for row in self.rows if (row["devices"], row["bytes"], row["where"]) == (devices, size, place))

    def smallest_us(self, devices):
        """NCCL's all-reduce of one number."""
        return self.row(devices, self.sizes(devices)[0])["us"]

    @property
    def hop_us(self):
        """What one message costs, however short: between two devices there are two, one after the other."""
        return self.smallest_us(2) / 2

    @property
    def link_gbps(self):
        """What a device sends per second, while it receives as much: the best of two devices."""
        return max(row["bus_gbps"] for row in self.rows if row["devices"] == 2)


def meeting_us(row):
    """What the meeting adds to the devices' own sums."""
    return row["whole"] - row["own"]


# ---- The model ---------------------------------------------------------------
# A message costs a latency, and its bytes' time on the link.


def ring_us(told, devices, size):
    """A d-th of the vector goes around the ring twice but for two steps."""
    return 2 * (devices - 1) * (told.hop_us + _link_us(told, size / devices))


def tree_us(told, devices, size):
    """The whole vector goes up the tree and down again."""
    return 2 * math.ceil(math.log2(devices)) * (told.hop_us + _link_us(told, size))


def _link_us(told, size):
    return 1e-3 * size / told.link_gbps


# ---- The record --------------------------------------------------------------


def newest(root, gpu=records.REFERENCE_GPU):
    path = records.recorded(root, f"{RECORD.name}.json", gpu)
    if not path:
        raise records.Unmeasured(f"{RECORD.source} was not measured on {gpu}: "
                                 f"run `make {RECORD.name}` there")
    told = RECORD.newest(root, gpu)
    return Told(path, RECORD.context(root, gpu), told["all-reduce"], told["steps"])


def source_of(steps):
    """build/gpu/chapters/NN_name/<op>.variant.steps -> chapters/NN_name/<op>.variant.cu"""
    return pathlib.Path(*pathlib.Path(steps).parts[2:]).with_suffix(".cu")


def main(program, *steps):
    told = json.loads(said_by([program]))
    told["steps"] = {source_of(path).name: json.loads(said_by([path])) for path in steps}
    for row in told["all-reduce"]:
        print(f"{row['devices']} devices, {row['bytes']:13,} bytes {row['where']:12}: {row['us']:10,.4g} us, "
              f"bus {row['bus_gbps']:6,.4g} GB/s")
    for name, rows in told["steps"].items():
        for row in rows:
            print(f"{row['devices']} devices, {name}: {row['whole']:.4g} us, {meeting_us(row):.4g} us of it to meet")
    sources = list(map(source_of, steps))
    programs = {pathlib.Path("plots", f"{source.name.split('.')[0]}_steps.cu") for source in sources}
    RECORD.write(told, *sources, *sorted(programs))


if __name__ == "__main__":
    script(RECORD.name, main, *sys.argv[1:])
