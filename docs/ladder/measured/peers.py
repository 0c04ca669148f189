"""Times chapters beside CUB, PyTorch and Triton, in one process, on this GPU.

    python -m ladder.measured.peers SOURCE=LIBRARY...     `make peers` and `make bench` call it so

A library is a chapter's file built to be loaded, one in plots/peers/ that fulfils
a contract by the CUDA Toolkit's own means, or READER. Writes
plots/data/<gpu>/<date>/peers.json: for each operation and size, the time of
each chapter, of its peers, and of a plain copy and a plain read of as many bytes.
Every result is compared with PyTorch's first. What is absent is left out, aloud;
without PyTorch that is all of it.

All 50 calls are queued while the GPU is held back, so that no time of Python is
in any of them; each works on arrays that have left the L2 cache.
"""

import ctypes
import dataclasses
import datetime
import pathlib
import statistics
import sys

from ladder.measured import bench, records
from ladder.measured.tie import tie
from ladder.pages import ROOT

NAME = "peers.json"
FUNCTORS = pathlib.Path("plots/peers/functors.h")
READER = pathlib.Path("common/harness/read_kernel.cu")
ROOFS = (records.COPY, records.READ)
SIZES = [1 << 20, 1 << 24, 1 << 26, 1 << 28]
CALLS, WARM_UP = 50, 5
ABSENT = "absent"


@dataclasses.dataclass(frozen=True)
class Time:
    """One way to do an operation at one size; times in microseconds."""
    op: str
    by: str  # A source of ours, a peer, or one of ROOFS.
    n: int
    bytes: int
    p10_us: float
    p50_us: float
    p90_us: float


@dataclasses.dataclass(frozen=True)
class Peers:
    """One run on one GPU."""
    path: pathlib.Path
    context: dict
    times: dict  # (op, by, n) -> Time

    def time(self, op, by, n):
        if (op, by, n) not in self.times:
            raise records.RecordError(f"{self.path} has no {by} of {op} for n = {n:,}")
        return self.times[op, by, n]

    def by(self, op, n):
        """Who was timed, in the order of the file."""
        return [b for o, b, m in self.times if (o, m) == (op, n)]


def found(root, gpu=records.REFERENCE_GPU):
    """The files of a GPU, the newest last."""
    return sorted(root.glob(f"plots/data/{gpu}/*/{NAME}"))


def newest(root, gpu=records.REFERENCE_GPU):
    """The newest run, be it of earlier versions."""
    if not found(root, gpu):
        raise records.RecordError(f"no peer was measured on {gpu}: run `make peers` there")
    return load(found(root, gpu)[-1], root)


def load(path, root):
    try:
        data = records.opened(path)
        times = [Time(**time) for time in data["times"]]
        sources = data["context"]["sources"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise records.RecordError(f"{path}: {error!r}: run `make peers` again") from error
    for source, then in sources.items():
        records.note_stale(then, (root / source).is_file() and tie(root, source),
                           f"{path.relative_to(root)} is of an earlier version of {source}: "
                           "`make peers` measures it anew")
    return Peers(path, data["context"], {(t.op, t.by, t.n): t for t in times})


def label(by):
    """plots/peers/sum.cub.cu -> CUB; chapters/03_pack/relu.four.cu -> 03_pack, four"""
    path = pathlib.Path(by)
    if path.suffix != ".cu":
        return by
    variant = path.stem.partition(".")[2]
    if path.parent.name == "peers":
        return {"cub": "CUB", "thrust": "Thrust"}[variant]
    return path.parent.name + (f", {variant}" if variant else "")


def caption(measured):
    c = measured.context
    return (f"*{c['gpu']}, CUDA {c['cuda']}, PyTorch {c['torch']}, Triton {c['triton']}, "
            f"{c['date']}, commit {c['commit']}; all in one process, median of {c['calls']} calls, "
            "L2 cold.*")


# ---- What is timed -----------------------------------------------------------


class Work:
    """The arrays of one operation at one size, `slots` times over.

    Whatever can do it is a function of a slot that returns the result.
    """

    bytes_per_element = 8  # What must move, each operand once.
    kind = "float32"
    allowed = 0  # How far a result may be off PyTorch's.
    in_triton = ""  # A function of triton_kernels.

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
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)

        def called(slot):
            x = pointer(arrays[slot])
            library._Z18launch_read_kernelPKflPfP11CUstream_st(
                x, ctypes.c_int64(floats), x, stream)
        return called

    def pytorch(self, slot):
        self.kept[slot] = self.of(self.x[slot])
        return self.kept[slot]

    def triton(self, slot):
        import triton_kernels
        getattr(triton_kernels, self.in_triton)(*self.inputs(slot), self.y[slot])
        return self.y[slot]

    def inputs(self, slot):
        return (self.x[slot],)

    def chapter(self, library):
        """A function of a slot that calls the chapter's."""
        call = getattr(library, self.symbol)
        call.restype = None
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)

        def called(slot):
            call(*self.arguments(slot, library), stream)
            return self.y[slot]
        return called

    def arguments(self, slot, _):
        return pointer(self.x[slot]), pointer(self.y[slot]), ctypes.c_int64(self.n)

    def check(self, by, got):
        """Stops unless slot 0's result is PyTorch's, or as close as allowed."""
        worst = (got.double() - self.pytorch(0).double()).abs().max().item()
        if not worst <= self.allowed:
            sys.exit(f"peers: {by} of {self.n:,} elements is off by {worst}; nothing "
                     "is timed that is wrong")


class Relu(Work):
    symbol = "_Z4reluPKfPflP11CUstream_st"
    in_triton = "relu"

    def of(self, x):
        return self.torch.relu(x)


class Gelu(Work):
    symbol = "_Z4geluPK6__halfPS_lP11CUstream_st"
    in_triton = "gelu"
    bytes_per_element = 4
    kind = "float16"
    allowed = 2 ** -8  # A unit in the last place of 4 to 8.

    def of(self, x):
        return self.torch.nn.functional.gelu(x, approximate="tanh")


class ReluMask(Work):
    """The backward pass: PyTorch's reads x, the others a bit of it."""
    symbol = "_Z18relu_mask_backwardPKfPKjPflP11CUstream_st"
    in_triton = "relu_mask_backward"
    bytes_per_element = 8.125

    def __init__(self, torch, n, cache):
        super().__init__(torch, n, cache)
        self.dy = self.arrays(n)
        place = torch.arange(32, device="cuda")
        self.masks = [((x > 0).view(-1, 32).long() << place).sum(1).int() for x in self.x]

    def pytorch(self, slot):
        self.kept[slot] = self.torch.ops.aten.threshold_backward(self.dy[slot], self.x[slot], 0)
        return self.kept[slot]

    def inputs(self, slot):
        return self.dy[slot], self.masks[slot]

    def arguments(self, slot, _):
        return (*map(pointer, self.inputs(slot)), pointer(self.y[slot]),
                ctypes.c_int64(self.n))


class Sum(Work):
    symbol = "_Z3sumPKfPflS1_P11CUstream_st"
    in_triton = "total"
    bytes_per_element = 4
    scratch = None

    @property
    def allowed(self):
        return 2 ** -20 * self.n  # Of n normally distributed numbers.

    def of(self, x):
        return self.torch.sum(x).expand(1)

    def triton(self, slot):
        return super().triton(slot)[:1]

    def arguments(self, slot, library):
        floats = library._Z18sum_scratch_floatsl
        floats.restype = ctypes.c_int64
        needed = floats(ctypes.c_int64(self.n))
        if self.scratch is None or self.scratch.numel() < needed:
            self.scratch = self.torch.empty(needed, device="cuda")
        return (pointer(self.x[slot]), pointer(self.y[slot]), ctypes.c_int64(self.n),
                pointer(self.scratch))

    def chapter(self, library):
        called = super().chapter(library)
        return lambda slot: called(slot)[:1]


WORK = {"relu": Relu, "gelu": Gelu, "relu_mask": ReluMask, "sum": Sum}


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def microseconds(torch, call, slots):
    """(10th, 50th, 90th percentile) of CALLS calls."""
    for i in range(WARM_UP):
        call(i % slots)
    torch.cuda.synchronize()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(CALLS)]
    torch.cuda._sleep(40_000_000)  # Clock cycles: about 20 ms.
    for i, (start, stop) in enumerate(events):
        start.record()
        call((WARM_UP + i) % slots)
        stop.record()
    torch.cuda.synchronize()
    tenths = statistics.quantiles([1e3 * a.elapsed_time(b) for a, b in events], n=10)
    return tenths[0], tenths[4], tenths[8]


def measure(torch, libraries):
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    for op in dict.fromkeys(records.op_of(s) for s in libraries if s != READER):
        for n in SIZES:
            work = WORK[op](torch, n, cache)
            ways = {records.COPY: work.copy, records.READ: work.read(libraries[READER]),
                    "PyTorch": work.pytorch}
            if version_of("triton") != ABSENT:
                ways["Triton"] = work.triton
            for source, library in libraries.items():
                if records.op_of(source) == op:
                    ways[str(source)] = work.chapter(library)
            for by, call in ways.items():
                if by not in ROOFS:
                    work.check(by, call(0))
                times = [round(us, 3) for us in microseconds(torch, call, work.slots)]
                yield Time(op, by, n, work.bytes, *times)
            del work, ways, call
            torch.cuda.empty_cache()


def main(pairs):
    sources = [pair.partition("=")[0] for pair in pairs]
    if str(READER) not in sources or not all(pair.count("=") == 1 for pair in pairs):
        sys.exit(__doc__)
    try:
        import torch
    except ImportError as error:
        print(f"PyTorch is absent ({error}): it and Triton are left out. CUB and Thrust "
              "are measured by `make bench`, each in a process of its own.")
        return
    if version_of("triton") == ABSENT:
        print("Triton is absent: it is left out.")
    libraries = {pathlib.Path(source): ctypes.CDLL(ROOT / library)
                 for source, library in (pair.split("=") for pair in pairs)}
    commit, dirty = bench.checkout()
    times = []
    for time in measure(torch, libraries):
        print(f"{time.op:10} {time.n:13,}  {time.by:40} {time.p50_us:9.2f} us", flush=True)
        times.append(time)
    context = {
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "cuda": torch.version.cuda, "triton": version_of("triton"), "commit": commit, "dirty": dirty,
        "date": datetime.date.today().isoformat(),
        "command": "make peers", "calls": CALLS,
        "sources": {str(s): tie(ROOT, s) for s in [*libraries, FUNCTORS]},
    }
    folder = bench.DATA / records.gpu_folder(context["gpu"]) / context["date"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text(records.sealed(
        {"context": context, "times": [dataclasses.asdict(t) for t in times]}))
    print(f"Wrote {(folder / NAME).relative_to(ROOT)}.")


def version_of(package):
    try:
        return __import__(package).__version__
    except ImportError:
        return ABSENT


if __name__ == "__main__":
    main(sys.argv[1:])
