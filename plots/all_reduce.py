"""Times how devices meet, on all GPUs of this machine: chapter 17's files and NCCL's all-reduce.

    python -m plots.all_reduce PROGRAM STEPS STEPS STEPS     `make all_reduce` calls it so

PROGRAM is build/gpu/plots/all_reduce.program; each STEPS is one of the chapter's files, linked with
plots/sum_all_steps.cu. Writes plots/data/<gpu>/<date>/all_reduce.json: NCCL's all-reduce by number of
devices and bytes, and of each file what a sum of few numbers takes, whole and without the meeting.
"""

import json
import pathlib

from ladder.measured.program_record import ProgramRecord, run_or_raise, script

CHAPTER = "chapters/17_sum_all"
FILES = ("sum_all.host", "sum_all", "sum_all.nccl")
RECORD = ProgramRecord("all_reduce", ("plots/all_reduce.py", "plots/sum_all_steps.cu",
                                      *(f"{CHAPTER}/{name}.cu" for name in FILES)))


def smallest(told, devices, where="out of place"):
    """NCCL's all-reduce of one float, in microseconds."""
    found = [row for row in told["all-reduce"] if row["devices"] == devices and row["where"] == where]
    return min(found, key=lambda row: row["bytes"])["us"]


def step(row):
    """What the meeting adds to the devices' own sums."""
    return row["whole"] - row["own"]


def tell(told):
    print(f"{'devices':>7} {'bytes':>13} {'where':14} {'us':>10} {'bus GB/s':>9}")
    for row in told["all-reduce"]:
        print(f"{row['devices']:7} {row['bytes']:13,} {row['where']:14} {row['us']:10,.4g} {row['bus_gbps']:9,.4g}")
    for name, rows in told["steps"].items():
        for row in rows:
            beside = ""
            if row["devices"] > 1:
                beside = f", {step(row) / smallest(told, row['devices']):.2f} x NCCL's all-reduce of one float"
            print(f"{name}, {row['devices']} devices: {row['whole']:.4g} us, {step(row):.4g} us to meet{beside}")


def main(program, *steps):
    told = json.loads(run_or_raise([program]))
    told["steps"] = {pathlib.Path(path).stem: json.loads(run_or_raise([path])) for path in steps}
    tell(told)
    RECORD.write(told)


if __name__ == "__main__":
    script(RECORD.name, __doc__, main, programs=1 + len(FILES))
