"""Reads what Nsight Compute (ncu) prints: `ncu --csv --page raw`."""

import csv
import io
import re

from ladder.pages import Problem

NO_PERMISSION = "ERR_NVGPUCTRPERM"
NO_KERNELS = "No kernels were profiled"


def arguments(metrics):
    """What ncu must be told. Clocks and caches change no counter, and it need
    not control them."""
    return ["--clock-control", "none", "--cache-control", "none", "--csv", "--page",
            "raw", "--print-units", "base", "--metrics", ",".join(metrics)]


def read(output, metrics):
    """[(kernel, grid, block, {metric: number})], launch by launch.

    A metric that this GPU does not have is left out."""
    if NO_PERMISSION in output:
        raise Problem("ncu may not read this GPU's counters. Run it as root, or let every user: put "
                      "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file in "
                      "/etc/modprobe.d and restart. In a container it takes --cap-add=SYS_ADMIN")
    start = output.find('"ID",')
    if start < 0 and NO_KERNELS in output:
        return []
    if start < 0:
        raise Problem(f"ncu told of no launch:\n{output[-2000:].strip()}")
    # Units stand in the second row, launches from the third on.
    header, _, *rows = csv.reader(io.StringIO(output[start:]))
    return [_launch(dict(zip(header, row)), metrics) for row in rows
            if len(row) == len(header)]  # The program may have said something, too.


def _launch(cell, metrics):
    lacking = {"Kernel Name", "Grid Size", "Block Size"} - cell.keys()
    if lacking:
        raise Problem(f"ncu's table has no column {', '.join(sorted(lacking))}")
    numbers = {m: _number(cell[m]) for m in metrics if m in cell}
    return (short_name(cell["Kernel Name"]), _extent(cell["Grid Size"]),
            _extent(cell["Block Size"]),
            {m: number for m, number in numbers.items() if number is not None})


def short_name(kernel):
    """void <unnamed>::f<(int)4>(float *) -> f<4>"""
    name = kernel.removeprefix("void ")
    name = re.sub(r"<unnamed>::|\(anonymous namespace\)::", "", name)
    name = re.sub(r"\((?:int|unsigned int|long|bool)\)(?=[\w-])", "", name)
    return name.partition("(")[0]


def _extent(text):
    """(4096, 1, 1) -> [4096, 1, 1]"""
    return [int(n) for n in re.findall(r"\d+", text)]


def _number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:  # "n/a", or nothing
        return None
