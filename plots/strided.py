# make strided         time chapter 15's engine beside PyTorch
# needs: any_strided.so
"""Times chapter 15's engine beside PyTorch, in one process, on this GPU.

    python plots/strided.py ENGINE.so     `make strided` calls it so

Each case is a function, and the types, shapes and strides of its operands: some are drawn
from a seed, others are named. Writes plots/data/<gpu>/<date>/strided.json: of each case the
time of the engine, of PyTorch, and of a plain copy of as many bytes. What is repeated counts
once. Every result is compared with PyTorch's first.
"""

import ctypes
import dataclasses
import math
import random
import sys

from ladder.measured import cases as many
from ladder.measured.records import COPY
from ladder.measured.work import stream_of
from ladder.pages import ROOT

NAME = "strided"
SOURCES = ("tests/any_strided/any_strided.cu", "docs/ladder/measured/cases.py", "plots/strided.py")
SEED, DRAWN = 2026, 200

# As strided::Type counts them.
TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
BYTES = dict(zip(TYPES, (1, 1, 1, 2, 4, 8, 2, 2, 4, 8)))
IN_CPP = {"float16": "half", "float32": "float", "float64": "double"}  # Where the engine says it otherwise.

# Of a function, the type that it is computed and written in, and what it is given.
FLOATS, HALVES, BRAINS, INTS = "float32", "float16", "bfloat16", "int32"
WHAT = [
    ("add", FLOATS, (FLOATS, FLOATS)), ("add", FLOATS, (FLOATS, FLOATS)), ("add", FLOATS, (HALVES, FLOATS)),
    ("add", FLOATS, (FLOATS, BRAINS)), ("add", FLOATS, ("uint8", FLOATS)), ("add", HALVES, (HALVES, HALVES)),
    ("add", BRAINS, (BRAINS, BRAINS)), ("add", INTS, (INTS, INTS)), ("add", INTS, ("int8", INTS)),
    ("copy", FLOATS, (FLOATS,)), ("copy", FLOATS, (HALVES,)), ("copy", FLOATS, (BRAINS,)),
    ("copy", FLOATS, ("uint8",)), ("copy", HALVES, (FLOATS,)), ("copy", BRAINS, (FLOATS,)),
    ("copy", HALVES, (HALVES,)), ("copy", "float64", (FLOATS,)), ("copy", INTS, ("uint8",)),
    ("copy", "uint8", ("uint8",)), ("relu", FLOATS, (FLOATS,)), ("relu", HALVES, (HALVES,)),
    ("addcmul", FLOATS, (FLOATS, FLOATS, FLOATS)),
]
LAYOUTS = ("dense", "dense", "dense", "permuted", "permuted", "gaps", "steps", "row", "column", "late")


@dataclasses.dataclass(frozen=True)
class Operand:
    """In the shape of the result: what is repeated has stride 0."""
    type: str
    strides: tuple
    offset: int = 0  # Elements behind a 512-byte line.

    def told(self, shape):
        """Its type and, unless it is dense, its strides."""
        strides = "" if self.strides == dense(shape) else f" by {', '.join(map(str, self.strides))}"
        return self.type + strides + (f" from {self.offset} on" if self.offset else "")

    def elements(self, shape):
        """From the first one to the last."""
        return self.offset + 1 + sum((size - 1) * stride for size, stride in zip(shape, self.strides))

    def bytes(self, shape):
        """What must be read."""
        return BYTES[self.type] * math.prod(size for size, stride in zip(shape, self.strides) if stride)


@dataclasses.dataclass(frozen=True)
class Case:
    op: str
    type: str  # Of the result.
    shape: tuple  # Of the result, whose rows lie one behind the other.
    operands: tuple
    known: str = ""  # Why it is no drawn one.

    @property
    def what(self):
        return f"{self.op} {IN_CPP.get(self.type, self.type)}"

    @property
    def name(self):
        operands = "; ".join(operand.told(self.shape) for operand in self.operands)
        return f"{self.what}, {' x '.join(map(str, self.shape))} of {operands}"

    @property
    def bytes(self):
        """What must be read and written."""
        return (BYTES[self.type] * math.prod(self.shape)
                + sum(operand.bytes(self.shape) for operand in self.operands))


# ---- Which cases -------------------------------------------------------------


def cases(seed=SEED, drawn=DRAWN):
    """The same for the same seed, on every machine."""
    chance = random.Random(seed)
    found = dict.fromkeys(known())
    while len(found) < len(known()) + drawn:
        found[a_case(chance)] = None
    return list(found)


def a_case(chance):
    op, kind, types = chance.choice(WHAT)
    elements = 2 ** chance.uniform(13, 26)
    rank = chance.choice((1, 2, 2, 2, 3, 3, 4))
    shares = sorted(chance.random() for _ in range(rank - 1))
    exponents = [b - a for a, b in zip([0, *shares], [*shares, 1])]
    round_to = chance.choice((1, 1, 8, 64))
    shape = tuple(max(1, round(elements ** e / round_to)) * round_to for e in exponents)
    case = Case(op, kind, shape, tuple(laid_out(chance, kind, shape) for kind in types))
    return case if 1 << 14 <= case.bytes <= 1 << 29 else a_case(chance)


def laid_out(chance, kind, shape):
    layout, rank = chance.choice(LAYOUTS), len(shape)
    strides = dense(shape)
    if layout == "permuted":
        strides = permuted(shape, chance.sample(range(rank), rank))
    elif layout == "gaps":
        strides = tuple(s // shape[-1] * (shape[-1] + 8) if d < rank - 1 else 1 for d, s in enumerate(strides))
    elif layout == "steps":
        strides = tuple(2 * s for s in strides)
    elif layout == "row":
        strides = (0,) * (rank - 1) + (1,)
    elif layout == "column" and rank > 1:
        strides = (*dense(shape[:-1]), 0)
    return Operand(kind, strides, offset=1 if layout == "late" else 0)


def dense(shape):
    return permuted(shape, range(len(shape)))


def permuted(shape, order):
    """Strides with which the dimensions lie in memory in that order, the fastest last."""
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d], step = step, step * shape[d]
    return tuple(strides)


def known():
    """What the page names."""
    n, side = 1 << 28, 1 << 14
    square, turned = (side, side), (1, side)
    one = lambda kind: Operand(kind, (1,))  # noqa: E731
    rows = lambda kind: Operand(kind, (side, 1))  # noqa: E731
    short = [Case("add", FLOATS, (1 << 24, k), (Operand(FLOATS, (k, 1)), Operand(FLOATS, (0, 1))), "short rows")
             for k in (2, 3, 5, 8)]
    return [
        Case("copy", FLOATS, (n,), (one(HALVES),), "half -> float"),
        Case("copy", HALVES, (n,), (one(FLOATS),), "float -> half"),
        Case("add", FLOATS, (n,), (one(HALVES), one(FLOATS)), "half + float"),
        Case("add", FLOATS, (n,), (one(FLOATS), one(FLOATS)), "x + y"),
        Case("add", HALVES, (n,), (one(HALVES), one(HALVES)), "half + half"),
        Case("relu", FLOATS, (n,), (Operand(FLOATS, (1,), 1),), "one element late"),
        Case("add", FLOATS, square, (rows(FLOATS), Operand(FLOATS, turned)), "x + y.t()"),
        Case("add", FLOATS, square, (rows(FLOATS), Operand(HALVES, turned)), "x + y.t(), y in halves"),
        Case("copy", FLOATS, square, (Operand(FLOATS, turned),), "y.t()"),
        Case("add", FLOATS, square, (rows(FLOATS), Operand(FLOATS, (0, 1))), "x + row"),
        Case("add", FLOATS, square, (rows(FLOATS), Operand(FLOATS, (1, 0))), "x + column"),
        Case("add", HALVES, square, (rows(HALVES), Operand(HALVES, (0, 1))), "half x + row"),
        *short,
    ]


# ---- What is timed -----------------------------------------------------------


class AnyArray(ctypes.Structure):
    """As in tests/any_strided/any_strided.h."""
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class AnyStrided(ctypes.Structure):
    _fields_ = [("what", ctypes.c_char_p), ("scalar", ctypes.c_double), ("arrays", ctypes.c_int),
                ("array", ctypes.POINTER(AnyArray))]


def random_elements(torch, kind, count):
    dtype = getattr(torch, kind)
    if dtype.is_floating_point:
        return torch.randn(count, dtype=dtype, device="cuda")
    return torch.randint(0, 100, (count,), dtype=dtype, device="cuda")


def views(torch, operand, shape, slots):
    """The operand, so many times over, each at an address of 512 bytes."""
    line = 512 // BYTES[operand.type]
    step = -(-operand.elements(shape) // line) * line
    pool = random_elements(torch, operand.type, slots * step)
    return [torch.as_strided(pool, shape, operand.strides, k * step + operand.offset) for k in range(slots)]


class Arrays:
    """Of one case, in as many slots as it takes for none to be in the cache."""

    def __init__(self, torch, case):
        self.slots = min(many.CALLS + 1, max(2, -(-4 * many.cache_of(torch) // case.bytes)))
        self.ins = list(zip(*(views(torch, operand, case.shape, self.slots) for operand in case.operands)))
        result = Operand(case.type, dense(case.shape))
        self.out = views(torch, result, case.shape, self.slots)


def in_pytorch(torch, case, arrays):
    """A function of a slot, into its output."""
    into = {
        "add": lambda out, x, y: torch.add(x, y, out=out),
        "copy": lambda out, x: out.copy_(x),
        "relu": lambda out, x: torch.clamp_min(x, 0, out=out),
        "addcmul": lambda out, x, y, z: torch.addcmul(x, y, z, out=out),
    }[case.op]
    return lambda slot: into(arrays.out[slot], *arrays.ins[slot])


class Engine:
    """The engine on one case: a function of a slot, into its output."""

    def __init__(self, torch, library, case, arrays):
        self.library, self.stream = library, stream_of(torch)
        library.any_strided.restype = library.any_strided_path.restype = ctypes.c_char_p
        self.kept, self.asked = [], []
        for slot in range(arrays.slots):
            tensors = (arrays.out[slot], *arrays.ins[slot])
            of_slot = (AnyArray * len(tensors))(*map(self.array, tensors))
            self.asked.append(AnyStrided(case.what.encode(), 0, len(tensors), of_slot))
            self.kept.append(of_slot)

    def array(self, tensor):
        counts = [(ctypes.c_int64 * tensor.dim())(*values) for values in (tensor.shape, tensor.stride())]
        self.kept += counts
        return AnyArray(tensor.data_ptr(), TYPES.index(str(tensor.dtype).removeprefix("torch.")),
                        tensor.dim(), *counts)

    def path(self):
        return self.library.any_strided_path(ctypes.byref(self.asked[0])).decode()

    def __call__(self, slot):
        error = self.library.any_strided(ctypes.byref(self.asked[slot]), self.stream)
        if error:
            sys.exit(f"strided: {error.decode()}")


def copying(torch, case, slots):
    """A function of a slot that copies half as many bytes: it reads them, and writes them."""
    half = -(-case.bytes // 2)
    memory = torch.zeros((2, slots, half), dtype=torch.uint8, device="cuda")
    return lambda slot: memory[1, slot].copy_(memory[0, slot])


def check(torch, case, engine, pytorch, out):
    """Stops unless a result is PyTorch's, or as close as rounding explains."""
    pytorch(0)
    expected = out.clone()
    out.zero_()
    engine(0)
    same = torch.equal(out, expected)
    if case.op == "addcmul":  # It may be rounded once, or twice.
        same = torch.allclose(out, expected, rtol=1e-5, atol=1e-6)
    if not same:
        sys.exit(f"strided: {case}, {engine.path()}: not PyTorch's result; nothing is timed that is wrong")


def measure(torch, library, asked):
    """Yields of each case its path and its times."""
    timer = many.Timer(torch)
    for number, case in enumerate(asked):
        torch.cuda.empty_cache()
        arrays = Arrays(torch, case)
        engine, pytorch = Engine(torch, library, case, arrays), in_pytorch(torch, case, arrays)
        check(torch, case, engine, pytorch, arrays.out[0])
        ways = {many.ENGINE: engine, many.PYTORCH: pytorch, COPY: copying(torch, case, arrays.slots)}
        yield engine.path(), list(timer.times(number, ways, arrays.slots))


def main(paths):
    if len(paths) != 1:
        sys.exit(__doc__)
    if torch := many.pytorch():
        asked = cases()
        taken, times = zip(*measure(torch, ctypes.CDLL(ROOT / paths[0]), asked))
        told = [many.Named(f"{case.name}: {path}", case.bytes, case.known) for case, path in zip(asked, taken)]
        many.keep(NAME, many.context(torch, "make strided", COPY, SOURCES, seed=SEED), told, sum(times, []))


if __name__ == "__main__":
    main(sys.argv[1:])
