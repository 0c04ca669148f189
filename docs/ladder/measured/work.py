"""How an operation is done beside the chapters: by PyTorch and by Triton, and how it is timed.

plots/<op>_peers.py has a class Peers of each, a Work with a Triton `kernel`. What times an
engine on many cases shares the last part of this file.
"""

import ctypes
import dataclasses
import datetime
import importlib
import statistics
import sys
import types

from ladder.measured import bench, records
from ladder.measured.tie import tie
from ladder.pages import ROOT

try:
    import triton
    import triton.language as tl
except ImportError:  # Their kernels can be read without.
    triton, tl = types.SimpleNamespace(jit=lambda kernel: kernel), types.SimpleNamespace(constexpr=None)

BLOCK = 4096  # Elements of a block of Triton's.


def of(op):
    """The Peers of an operation, or None."""
    name = f"plots.{op}_peers"
    try:
        return importlib.import_module(name).Peers
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


class Work:
    """The arrays of one operation at one size, `slots` times over.

    Whatever can do it is a function of a slot that returns the result.
    """

    bytes_per_element = 8  # What must move, each operand once.
    kind = "float32"
    allowed = 0  # How far a result may be off PyTorch's.
    series = ""  # Of the contract's, what is timed; '': what the ladder shows.

    def __init__(self, torch, n, cache):
        self.torch, self.n = torch, n
        self.bytes = int(self.bytes_per_element * n)
        self.slots = max(2, -(-4 * cache // self.bytes))
        self.x = self.arrays(n)
        self.y = [torch.empty_like(x) for x in self.x]
        self.kept = [None] * self.slots  # Else PyTorch's next result would come to lie there.
        words = self.bytes // 2 // self.x[0].element_size()
        self.source, self.target = self.arrays(words), self.arrays(words)

    def arrays(self, n):
        kind = getattr(self.torch, self.kind)
        return [self.torch.randn(n, dtype=kind, device="cuda") for _ in range(self.slots)]

    def copy(self, slot):
        return self.target[slot].copy_(self.source[slot])

    def read(self, library):
        """A function of a slot that reads as many bytes and writes none."""
        floats = self.bytes // 4
        arrays = [self.torch.rand(floats, device="cuda") for _ in range(self.slots)]
        return reading(self.torch, library, arrays, floats)

    def pytorch(self, slot):
        self.kept[slot] = self.of(self.x[slot])
        return self.kept[slot]

    def triton(self, slot):
        blocks = triton.cdiv(self.n, BLOCK)
        self.kernel[(blocks,)](*self.inputs(slot), self.y[slot], self.n, block=BLOCK)
        return self.y[slot]

    def inputs(self, slot):
        return (self.x[slot],)

    def chapter(self, library):
        """A function of a slot that calls the chapter's."""
        call = getattr(library, self.symbol)
        call.restype = None
        stream = stream_of(self.torch)

        def called(slot):
            call(*self.arguments(slot, library), stream)
            return self.y[slot]
        return called

    def arguments(self, slot, _):
        return (*map(pointer, self.inputs(slot)), pointer(self.y[slot]), ctypes.c_int64(self.n))

    def check(self, by, got):
        """Stops unless slot 0's result is PyTorch's, or as close as allowed."""
        worst = (got.double() - self.pytorch(0).double()).abs().max().item()
        if not worst <= self.allowed:
            sys.exit(f"peers: {by} of {self.n:,} elements is off by {worst}; nothing "
                     "is timed that is wrong")


def reading(torch, library, arrays, floats):
    """A function of a slot that reads so many floats of its array and writes none."""
    never, stream, count = torch.empty(1, device="cuda"), stream_of(torch), ctypes.c_int64(floats)

    def called(slot):
        library._Z18launch_read_kernelPKflPfP11CUstream_st(pointer(arrays[slot]), count, pointer(never), stream)
    return called


def percentiles(torch, call, calls, held_back):
    """(10th, 50th, 90th percentile) of call(0), call(1), ..., in microseconds. All are queued
    while the GPU is held back for so many clock cycles, so that no time of Python is in them."""
    torch.cuda.synchronize()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(calls)]
    torch.cuda._sleep(held_back)
    for k, (start, stop) in enumerate(events):
        start.record()
        call(k)
        stop.record()
    torch.cuda.synchronize()
    tenths = statistics.quantiles([1e3 * a.elapsed_time(b) for a, b in events], n=10)
    return tenths[0], tenths[4], tenths[8]


def stream_of(torch):
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


# ---- An engine, on many cases ------------------------------------------------

CALLS, WARM_UP = 40, 5
HELD_BACK = 12_000_000  # Clock cycles: about 6 ms.


@dataclasses.dataclass(frozen=True)
class Time:
    """Of one case, one way; times in microseconds."""
    case: int
    by: str
    p10_us: float
    p50_us: float
    p90_us: float


def slot_of(call, slots):
    """Far from each other, and none twice but where all of them are more than the cache holds."""
    return 1 + call * ((slots - 1) // CALLS) if slots > CALLS else call % slots


def microseconds(torch, call, slots, others):
    """(10th, 50th, 90th percentile) of CALLS calls, after `others` have filled the cache."""
    for _ in range(WARM_UP):
        call(0)
    others.sum()
    return percentiles(torch, lambda k: call(slot_of(k, slots)), CALLS, HELD_BACK)


def ratios(asked, times):
    """(case, PyTorch's time over the engine's), the worst first."""
    of = {(t.case, t.by): t.p50_us for t in times}
    return sorted(((case, of[k, "PyTorch"] / of[k, "engine"]) for k, case in enumerate(asked)),
                  key=lambda pair: pair[1])


def record(torch, name, command, checkout, seed, sources, cases, times):
    """Writes plots/data/<gpu>/<date>/<name>: `cases` are what JSON can hold, `checkout` is what
    bench.checkout() said before they were timed."""
    commit, dirty = checkout
    context = {
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
        "commit": commit, "dirty": dirty, "date": datetime.date.today().isoformat(),
        "command": command, "calls": CALLS, "seed": seed,
        "sources": {source: tie(ROOT, source) for source in sources},
    }
    folder = bench.DATA / records.gpu_folder(context["gpu"]) / context["date"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(records.sealed({
        "context": context, "cases": cases, "times": [dataclasses.asdict(time) for time in times]}))
    print(f"Wrote {(folder / name).relative_to(ROOT)}.")
