#!/usr/bin/env python3
"""See that the executor counts what Nsight Compute counted on a GPU.

`make parity` recorded ncu's side; this runs the same programs on the executor
and compares. tests/parity/exceptions.txt explains what differs.
"""

from ladder import pages
from ladder.measured import parity, parity_data
from ladder.pages import ROOT

SHOWN = 5


def check_programs(recorded, wanted, tally):
    """Returns those that were counted on a GPU, and are still there."""
    for program in sorted(set(recorded.programs) - set(wanted)):
        tally.fail(f"{program} is gone: run `make parity` on a machine with a GPU")
    for program in sorted(set(wanted) - set(recorded.programs)):
        tally.stale(f"{program} was never counted on a GPU: run `make parity` there")
    return [program for program in wanted if program in recorded.programs]


def check_recorded(recorded, counted, tally):
    """What parity.json says of the executor must be what it counts now."""
    for program, launches in counted.programs.items():
        if launches == recorded.programs[program]:
            tally.ok()
        else:
            tally.fail(f"{program}: parity.json holds other counts of the executor: "
                       "`make parity BACKEND=cpu` brings them up to date")


def main():
    tally = pages.Tally()
    recorded = parity_data.merged([parity_data.load(path, ROOT) for path in parity_data.newest_of_each(ROOT)])
    known = check_programs(recorded, parity.programs(), tally)
    counted = parity.count_executor_again(recorded, known)
    exceptions = parity_data.read_exceptions((ROOT / parity_data.EXCEPTIONS).read_text())
    check_recorded(recorded, counted, tally)
    for program, quantity, launches, troubles in parity_data.judge(counted, exceptions):
        title = f"{program}: {quantity}"
        if troubles:
            more = len(troubles) - SHOWN
            shown = troubles[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
            tally.fail(f"{title}:\n      " + "\n      ".join(shown))
        else:
            tally.ok(f"{title}: {launches} launches")
    return tally.close("program")


if __name__ == "__main__":
    pages.script("counters", main)
