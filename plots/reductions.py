# make reductions      time chapter 12's engine beside PyTorch and CUB
# needs: any_reduce.so plots/reductions/cub_rows.so common/harness/read_kernel.so
"""Times chapter 12's engine beside PyTorch and CUB, in one process, on this GPU.

    python plots/reductions.py ENGINE.so CUB.so READER.so     `make reductions` calls it so

Each case is an operation, a type, a shape and the dimensions to reduce: some are drawn from
a seed, others are those where PyTorch is known to be slow. Writes
plots/data/<gpu>/<date>/reductions.json: of each case the time of the engine, of PyTorch, of a
plain read of as many bytes as must move and, for the rows that it knows, of CUB's segmented reduction.
Every result is compared with PyTorch's first.
"""

import ctypes
import dataclasses
import math
import random
import sys

from ladder.measured import cases as many
from ladder.measured.work import pointer, reading, stream_of
from ladder.pages import ROOT

NAME, READ = "reductions", "plain read"
SOURCES = ("tests/any_reduce/any_reduce.cu", "plots/reductions/cub_rows.cu", "common/harness/read_kernel.cu",
           "docs/ladder/measured/cases.py", "plots/reductions.py")
SEED, DRAWN = 2026, 96
ROUNDS = 3  # A median of calls of 4 µs varies by a tenth: of as many medians, the middle one counts.

# The engine's name for an operation, and the type of an element.
WHAT = [
    "sum float", "sum float", "sum float", "sum half", "sum bfloat16", "sum double", "sum int8",
    "sum int32", "sum int64", "mean float", "mean half", "var float", "var half", "var double",
    "argmax float", "argmax bfloat16", "norm2 float", "norm2 half", "max float", "max half",
    "max int64", "any float", "any int8",
]


@dataclasses.dataclass(frozen=True)
class Case:
    what: str
    shape: tuple
    dims: tuple  # Sorted; all of them reduce to one number.
    known: str = ""  # Why it is no drawn one.

    @property
    def op(self):
        return self.what.split()[0]

    @property
    def type(self):
        return self.what.split()[1]

    @property
    def name(self):
        sizes, dims = (" x ".join(map(str, self.shape)), ", ".join(map(str, self.dims)))
        return f"{self.what}, {sizes} over {dims}"

    @property
    def read(self):
        """In bytes: all elements."""
        return math.prod(self.shape) * many.BYTES[self.type]

    @property
    def bytes(self):
        """What must move: all elements, and all results."""
        whole = self.type.startswith("int")
        size = {"argmax": 8, "any": 1, "sum": 8 if whole else 0}.get(self.op) or many.BYTES[self.type]
        return self.read + self.results * size

    @property
    def results(self):
        return math.prod(size for d, size in enumerate(self.shape) if d not in self.dims)

    @property
    def rows(self):
        """Whether what is reduced lies side by side, all of it."""
        return self.dims == tuple(range(len(self.shape) - len(self.dims), len(self.shape)))


# ---- Which cases -------------------------------------------------------------


def cases(seed=SEED, drawn=DRAWN):
    """The same for the same seed, on every machine."""
    chance = random.Random(seed)
    found = dict.fromkeys(known())
    while len(found) < len(known()) + drawn:
        found[a_case(chance)] = None
    return sorted(found, key=lambda case: case.type)  # One pool of memory for each type.


def a_case(chance):
    what = chance.choice(WHAT)
    elements = int(2 ** chance.uniform(14, 28)) // many.BYTES[what.split()[1]]
    rank = chance.choice((1, 2, 2, 2, 3, 3))
    shares = sorted(chance.random() for _ in range(rank - 1))
    exponents = [b - a for a, b in zip([0, *shares], [*shares, 1])]
    round_to = chance.choice((1, 1, 8, 64))
    shape = tuple(max(1, round(elements ** e / round_to)) * round_to for e in exponents)
    dims = tuple(d for d in range(rank) if chance.random() < 0.5) or (chance.randrange(rank),)
    if what.startswith("argmax") and len(dims) < rank:
        dims = dims[:1]  # PyTorch's takes one dimension, or all.
    case = Case(what, shape, dims)
    return case if 1 << 12 <= case.read <= 1 << 29 else a_case(chance)


def known():
    """Where PyTorch is known to be slow, what people ask for most, and where reading decides."""
    small_inner = [Case("sum float", (1 << 22, k), (1,), "pytorch #18807") for k in range(2, 9)]
    middle = [Case(what, shape, (1,), "pytorch #149982") for what, shape in (
        ("sum float", (64, 4096, 256)), ("sum float", (512, 512, 512)), ("max float", (4096, 128, 64)),
        ("sum half", (512, 1024, 512)), ("sum float", (1000, 1000, 3)))]
    whole = [Case(what, shape, dims, "pytorch #36706") for what, shape, dims in (
        ("sum int8", (1 << 28,), (0,)), ("sum int8", (8192, 16384), (1,)), ("sum int8", (16384, 8192), (0,)))]
    flat = [Case("sum float", shape, dims, "flat") for shape, dims in (
        ((10 ** 6, 8), (0,)), ((10 ** 6, 8), (1,)), ((8, 10 ** 6), (0,)), ((8, 10 ** 6), (1,)),
        ((1 << 20, 16), (0,)), ((8, 1_000_003), (1,)))]
    large = [Case(what, shape, dims, "large") for what, shape, dims in (
        ("sum float", (1 << 27,), (0,)), ("sum float", (16384, 8192), (1,)), ("sum float", (16384, 8192), (0,)),
        ("mean half", (16384, 16384), (1,)), ("mean half", (16384, 16384), (0,)), ("var float", (8192, 16384), (1,)),
        ("var float", (16384, 8192), (0,)), ("argmax float", (1 << 27,), (0,)), ("argmax float", (8192, 16384), (1,)),
        ("norm2 float", (1 << 27,), (0,)), ("max float", (8192, 16384), (0,)), ("any int8", (1 << 28,), (0,)),
        ("sum float", (64, 256, 64, 128), (0, 2, 3)), ("var float", (64, 256, 56, 56), (0, 2, 3)))]
    return [*small_inner, *middle, *whole, *flat, *large]


# ---- What is timed -----------------------------------------------------------


class AnyReduction(ctypes.Structure):
    """As in tests/any_reduce/any_reduce.h."""
    _fields_ = [("what", ctypes.c_char_p), ("parameter", ctypes.c_double), ("rank", ctypes.c_int),
                ("dims", ctypes.c_int), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("dim", ctypes.POINTER(ctypes.c_int)),
                ("x", ctypes.c_void_p), ("out", ctypes.c_void_p), ("wide", ctypes.c_bool)]


def in_pytorch(torch, case):
    """A function of x."""
    dims = case.dims
    if case.op == "argmax":
        return lambda x: torch.argmax(x, dim=dims[0] if len(dims) < len(case.shape) else None)
    return {
        "sum": lambda x: torch.sum(x, dims), "mean": lambda x: torch.mean(x, dims),
        "var": lambda x: torch.var(x, dims), "max": lambda x: torch.amax(x, dims),
        "norm2": lambda x: torch.linalg.vector_norm(x, 2, dims), "any": lambda x: torch.any(x, dims),
    }[case.op]


class Engine:
    """The engine on one case: a function of a slot."""

    def __init__(self, torch, library, case, arrays, like):
        self.library, self.stream = library, stream_of(torch)
        self.out = [torch.empty_like(like) for _ in range(min(len(arrays), 8))]
        shape, dims = case.shape, case.dims
        strides = arrays[0].stride()
        self.kept = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*strides), \
            (ctypes.c_int * len(dims))(*dims)
        self.asked = [AnyReduction(case.what.encode(), 1.0, len(shape), len(dims), *self.kept,
                                   x.data_ptr(), self.out[k % len(self.out)].data_ptr(), False)
                      for k, x in enumerate(arrays)]
        cleared = ctypes.c_int64()
        library.any_reduce_scratch.restype = ctypes.c_int64
        library.any_reduce.restype = ctypes.c_char_p
        self.bytes = library.any_reduce_scratch(ctypes.byref(self.asked[0]), ctypes.byref(cleared))
        self.scratch = torch.zeros(self.bytes + 16, dtype=torch.uint8, device="cuda")

    def __call__(self, slot):
        error = self.library.any_reduce(
            ctypes.byref(self.asked[slot]), ctypes.c_void_p(self.scratch.data_ptr()),
            ctypes.c_int64(self.bytes), self.stream)
        if error:
            sys.exit(f"reductions: {error.decode()}")
        return self.out[slot % len(self.out)]


def in_cub(torch, library, case, arrays, like):
    """A function of a slot, or None where CUB is not asked: it adds halves up in halves."""
    if not case.rows or case.type in ("half", "bfloat16"):
        return None
    library.cub_rows.restype = ctypes.c_int64
    out, stream = torch.empty_like(like), stream_of(torch)
    rows = case.results

    def called(slot, scratch=None, needed=0):
        return library.cub_rows(
            case.what.encode(), pointer(arrays[slot]), pointer(out), ctypes.c_int64(rows),
            ctypes.c_int64(math.prod(case.shape) // rows), scratch, ctypes.c_int64(needed), stream)
    needed = called(0)
    if needed < 0:
        return None
    scratch = torch.empty(needed + 16, dtype=torch.uint8, device="cuda")

    def into_out(slot):
        called(slot, pointer(scratch), needed)
        return out
    return into_out


def check(torch, case, by, got, x, expected):
    """Stops unless a result is PyTorch's, or as close as rounding explains."""
    if case.op == "argmax":  # Of several equal ones, PyTorch may take any.
        flat = len(case.dims) == len(case.shape)
        value = (lambda at: x.flatten()[at]) if flat else \
            (lambda at: x.gather(case.dims[0], at.unsqueeze(case.dims[0])))
        got, expected = value(got), value(expected)
    n = math.prod(case.shape) / case.results
    step = {"half": 2 ** -9, "bfloat16": 2 ** -6, "double": 1e-12}.get(case.type, 1e-5)
    slack = step * (expected.double().abs() + math.sqrt(n)) if case.op not in ("max", "argmax", "any") else 0
    worst = ((got.double() - expected.double()).abs() - slack).max().item()
    if not worst <= 0:
        sys.exit(f"reductions: {by}, {case}: off by {worst} more than allowed; nothing is timed that is wrong")


def measure(torch, engine, cub, reader, asked):
    timer, most = many.Timer(torch), max(case.bytes for case in asked)
    plain = many.Pool(torch, "float", most)
    plain.memory.uniform_()  # The reader reports what is greater than 2.
    pool, of = None, None
    for number, case in enumerate(asked):
        if of != case.type:
            pool = None  # Before there is another.
            torch.cuda.empty_cache()
            pool, of = many.Pool(torch, case.type, max(c.bytes for c in asked if c.type == case.type)), case.type
        arrays, in_torch = pool.arrays(*case.shape), in_pytorch(torch, case)
        expected, others = in_torch(arrays[0]), plain.arrays(case.bytes // 4)
        read = reading(torch, reader, others, case.bytes // 4)
        ways = {many.ENGINE: Engine(torch, engine, case, arrays, expected),
                many.PYTORCH: lambda slot: in_torch(arrays[slot]),
                "CUB": in_cub(torch, cub, case, arrays, expected),
                READ: lambda slot: read(slot % len(others))}
        for by in (many.ENGINE, "CUB"):
            if ways[by]:
                check(torch, case, by, ways[by](0), arrays[0], expected)
        rounds = [list(timer.times(number, ways, len(arrays))) for _ in range(ROUNDS)]
        yield from (sorted(times, key=lambda time: time.p50_us)[ROUNDS // 2] for times in zip(*rounds))


def main(paths):
    if len(paths) != 3:
        sys.exit(__doc__)
    if torch := many.pytorch():
        asked = cases()
        times = list(measure(torch, *(ctypes.CDLL(ROOT / path) for path in paths), asked))
        many.keep(NAME, many.context(torch, "make reductions", READ, SOURCES, seed=SEED, rounds=ROUNDS), asked, times)


if __name__ == "__main__":
    main(sys.argv[1:])
