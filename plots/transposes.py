# make transposes      time chapter 14's kernels beside PyTorch and cuBLAS
# needs: chapters/14_transpose/transpose.so
"""Times chapter 14's transpose beside PyTorch and cuBLAS, in one process, on this GPU.

    python plots/transposes.py TRANSPOSE.so     `make transposes` calls it so

Each case is a matrix: its type, rows and columns. Writes plots/data/<gpu>/<date>/transposes.json:
of each case the time of the chapter's transpose, of PyTorch's `y.copy_(x.t())`, of a copy of
as many bytes and, for floats, of cuBLAS's geam. Every result is compared with PyTorch's first.
Where Nsight Compute is, the context says of some cases how busy one part of the GPU was.
"""

import ctypes
import dataclasses
import shutil
import subprocess
import sys

from ladder import ncu
from ladder.measured import cases as many
from ladder.measured import records
from ladder.measured.work import pointer, stream_of
from ladder.pages import ROOT

NAME, CUBLAS = "transposes", "cuBLAS"
SOURCES = ("chapters/14_transpose/transpose.cu", "docs/ladder/measured/cases.py", "plots/transposes.py")
SYMBOLS = {"float": "_Z9transposePKfPfllP11CUstream_st", "half": "_Z14transpose_halfPK6__halfPS_llP11CUstream_st"}

SQUARES = [(1 << k, 1 << k) for k in range(9, 16)]
LONG = [(1000, 1_000_003), (1_000_003, 1000), (999, 1_000_003), (1_000_003, 999), (3, 100_000_007), (100_000_007, 3)]
ODD = [(1023, 1025), (10_007, 10_009), (10_009, 10_007), (16_380, 16_388)]

LINK = "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed"  # Between the halves of the L2 cache.
KERNELS = "regex:transpose_kernel|tall_kernel|elementwise_kernel"


@dataclasses.dataclass(frozen=True)
class Case:
    type: str
    rows: int
    columns: int
    known = ""

    @property
    def name(self):
        return f"{self.type}, {self.rows:,} x {self.columns:,}"

    @property
    def elements(self):
        return self.rows * self.columns

    @property
    def bytes(self):
        """What must be read and written."""
        return 2 * many.BYTES[self.type] * self.elements


def cases():
    return [Case(kind, *shape) for kind in SYMBOLS for shape in (*SQUARES, *LONG, *ODD)]


PROFILED = (Case("float", 1 << 15, 1 << 15), Case("float", 1_000_003, 1000), Case("float", 16_380, 16_388))


# ---- What is timed -----------------------------------------------------------


class Arrays:
    """A case's matrices, so many times over that they do not stay in the L2 cache."""

    def __init__(self, torch, case):
        kind = getattr(torch, case.type)
        self.slots = min(many.MOST_SLOTS, max(2, -(-4 * many.cache_of(torch) // case.bytes)))
        self.x = [torch.randn(case.rows, case.columns, dtype=kind, device="cuda") for _ in range(self.slots)]
        self.y = [torch.empty(case.columns, case.rows, dtype=kind, device="cuda") for _ in range(self.slots)]

    def copy(self, slot):
        return self.y[slot].view(-1).copy_(self.x[slot].view(-1))

    def pytorch(self, slot):
        return self.y[slot].copy_(self.x[slot].t())


def in_chapter(torch, library, case, arrays):
    """A function of a slot."""
    call, stream = getattr(library, SYMBOLS[case.type]), stream_of(torch)
    call.restype = None

    def called(slot):
        call(pointer(arrays.x[slot]), pointer(arrays.y[slot]),
             ctypes.c_int64(case.rows), ctypes.c_int64(case.columns), stream)
        return arrays.y[slot]
    return called


def in_cublas(torch, case, arrays):
    """The same, or None for halves: geam has none. To cuBLAS rows are columns."""
    if case.type != "float":
        return None
    handle = ctypes.c_void_p(torch.cuda.current_blas_handle())  # PyTorch has loaded the library by now.
    library = ctypes.CDLL(f"libcublas.so.{torch.version.cuda.split('.')[0]}")
    one, zero, turned, as_it_is = ctypes.c_float(1), ctypes.c_float(0), 1, 0
    rows, columns = case.rows, case.columns

    def called(slot):
        x, y = pointer(arrays.x[slot]), pointer(arrays.y[slot])
        if library.cublasSgeam(handle, turned, as_it_is, rows, columns, ctypes.byref(one), x, columns,
                               ctypes.byref(zero), y, rows, y, rows):
            sys.exit(f"transposes: cuBLAS did not do {case}")
        return arrays.y[slot]
    return called


def measure(torch, library, asked):
    timer = many.Timer(torch)
    for number, case in enumerate(asked):
        arrays = None  # Before there are others.
        torch.cuda.empty_cache()
        arrays = Arrays(torch, case)
        ways = {many.ENGINE: in_chapter(torch, library, case, arrays), CUBLAS: in_cublas(torch, case, arrays),
                many.PYTORCH: arrays.pytorch, records.COPY: arrays.copy}
        for by, call in ways.items():
            if call and by != records.COPY:
                arrays.y[0].fill_(7)
                if not torch.equal(call(0), arrays.x[0].t()):
                    sys.exit(f"transposes: {by}, {case}: nothing is timed that is wrong")
        yield from timer.times(number, ways, arrays.slots)


# ---- What limits it ----------------------------------------------------------


def profile(torch, library):
    """For ncu: of each case, the chapter's kernel and one that reads and writes in order."""
    for case in PROFILED:
        arrays = Arrays(torch, case)
        in_chapter(torch, library, case, arrays)(0)
        torch.neg(arrays.x[0].view(-1), out=arrays.y[0].view(-1))


def busy_link(path):
    """{case: how many percent of the cycles LINK was busy, with either kernel}"""
    if not shutil.which("ncu"):
        return {}
    command = ["ncu", *ncu.arguments([LINK]), "--kernel-name", KERNELS, sys.executable, __file__, path, "profiled"]
    run = subprocess.run(command, text=True, capture_output=True)
    busy = [round(metrics[LINK], 1) for *_, metrics in ncu.read(run.stdout + run.stderr, [LINK])]
    return {case.name: {"chapter": busy[2 * k], "in order": busy[2 * k + 1]} for k, case in enumerate(PROFILED)}


def main(paths):
    if not paths or paths[1:] not in ([], ["profiled"]):
        sys.exit(__doc__)
    if torch := many.pytorch():
        library = ctypes.CDLL(ROOT / paths[0])
        if paths[1:]:
            return profile(torch, library)
        asked = cases()
        times = list(measure(torch, library, asked))
        of = many.context(torch, "make transposes", records.COPY, SOURCES, busy_link=busy_link(paths[0]))
        many.keep(NAME, of, asked, times)


if __name__ == "__main__":
    main(sys.argv[1:])
