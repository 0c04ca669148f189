"""Times chapters beside CUB, PyTorch and Triton, in one process, on this GPU.

    python -m ladder.measured.peers SOURCE=LIBRARY...     `make peers` and `make bench` call it so

What an operation is in PyTorch's and in Triton's words stands in plots/<op>_peers.py.
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
import sys

from ladder.measured import bench, records, work
from ladder.measured.tie import tie
from ladder.pages import ROOT

NAME = "peers.json"
FUNCTORS = pathlib.Path("plots/peers/functors.h")
READER = pathlib.Path("common/harness/read_kernel.cu")
ROOFS = (records.COPY, records.READ)
SIZES = [1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 24, 1 << 26, 1 << 28]
CALLS, WARM_UP = 50, 5
HELD_BACK = 40_000_000  # Clock cycles: about 20 ms.
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


def newest(root, gpu=records.REFERENCE_GPU):
    """The newest run, be it of earlier versions."""
    path = records.recorded(root, NAME, gpu)
    if not path:
        raise records.RecordError(f"no peer was measured on {gpu}: run `make peers` there")
    return load(path, root)


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
    """plots/peers/<op>.cub.cu -> CUB; chapters/NN_name/<op>.four.cu -> NN_name, four"""
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


# ---- Timing ------------------------------------------------------------------


def microseconds(torch, call, slots):
    """(10th, 50th, 90th percentile) of CALLS calls."""
    for i in range(WARM_UP):
        call(i % slots)
    return work.percentiles(torch, lambda i: call((WARM_UP + i) % slots), CALLS, HELD_BACK)


def measure(torch, libraries):
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    for op in dict.fromkeys(records.op_of(s) for s in libraries if s != READER):
        peers = work.of(op)
        if not peers:
            print(f"There is no plots/{op}_peers.py: {op} is left out.")
            continue
        for n in SIZES:
            timed = peers(torch, n, cache)
            ways = {records.COPY: timed.copy, records.READ: timed.read(libraries[READER]),
                    "PyTorch": timed.pytorch}
            if version_of("triton") != ABSENT:
                ways["Triton"] = timed.triton
            for source, library in libraries.items():
                if records.op_of(source) == op:
                    ways[str(source)] = timed.chapter(library)
            for by, call in ways.items():
                if by not in ROOFS:
                    timed.check(by, call(0))
                times = [round(us, 3) for us in microseconds(torch, call, timed.slots)]
                yield Time(op, by, n, timed.bytes, *times)
            del timed, ways, call
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
    records.write(bench.place(context, NAME),
                  {"context": context, "times": [dataclasses.asdict(t) for t in times]})


def version_of(package):
    try:
        return __import__(package).__version__
    except ImportError:
        return ABSENT


if __name__ == "__main__":
    main(sys.argv[1:])
