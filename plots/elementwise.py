# make elementwise     time chapter 13's engine beside PyTorch and CUB
# needs: any_elementwise.so plots/elementwise/cub_transform.so
"""Times chapter 13's engine beside PyTorch and CUB, in one process, on this GPU.

    python plots/elementwise.py ENGINE.so CUB.so     `make elementwise` calls it so

Each case is a function of one, two or three operands, a type, a number of elements, and where
the arrays begin. Writes plots/data/<gpu>/<date>/elementwise.json: of each case the time of the
engine, of PyTorch, of CUB's transform and of a copy of as many bytes. Every result is compared
with PyTorch's first.
"""

import ctypes
import dataclasses
import sys

from ladder.measured import cases as many
from ladder.measured import records
from ladder.measured.work import pointer, stream_of
from ladder.pages import ROOT

NAME, CUB = "elementwise", "CUB"
SOURCES = ("tests/any_elementwise/any_elementwise.cu", "plots/elementwise/cub_transform.cu",
           "docs/ladder/measured/cases.py", "plots/elementwise.py")

OPERANDS = {"relu": 1, "add": 2, "fma": 3}
TYPES = ("float", "half", "bfloat16")
EXPONENTS = (28, 26, 24, 22, 20, 18, 16, 14, 12, 10)  # CUB keeps the tile of its first call: let it be a large one.
ROUNDS = 3  # What is timed first behind a larger case may take a tenth longer: the middle one of three counts.
STARTS = {"aligned": (0, 0), "all off by one": (1, 1), "operands off by one": (0, 1)}


@dataclasses.dataclass(frozen=True)
class Case:
    op: str
    type: str
    n: int
    start: str  # One of STARTS.
    known = ""

    @property
    def what(self):
        return f"{self.op} {self.type}"

    @property
    def name(self):
        return f"{self.what}, 2^{self.n.bit_length() - 1}, {self.start}"

    @property
    def arrays(self):
        """The result, and the operands."""
        return 1 + OPERANDS[self.op]

    @property
    def bytes(self):
        return self.arrays * many.BYTES[self.type] * self.n


def cases():
    return [Case(op, kind, 1 << exponent, start) for exponent in EXPONENTS for kind in TYPES
            for op in OPERANDS for start in STARTS if start == "aligned" or exponent >= 20]


# ---- What is timed -----------------------------------------------------------


class AnyElementwise(ctypes.Structure):
    """As in tests/any_elementwise/any_elementwise.h."""
    _fields_ = [("what", ctypes.c_char_p), ("parameter", ctypes.c_double), ("scalar", ctypes.c_void_p),
                ("n", ctypes.c_int64), ("results", ctypes.c_void_p * 2), ("operands", ctypes.c_void_p * 3)]


class Arrays:
    """A case's arrays, so many times over that they do not stay in the L2 cache."""

    def __init__(self, torch, case):
        kind = getattr(torch, case.type)
        self.slots = min(many.MOST_SLOTS, max(2, -(-4 * many.cache_of(torch) // case.bytes)))
        step = -(-(case.n + 1) * many.BYTES[case.type] // 512) * 512 // many.BYTES[case.type]
        offsets = [STARTS[case.start][min(k, 1)] for k in range(case.arrays)]
        memory = [torch.randn(self.slots * step, device="cuda").to(kind) for _ in offsets]
        slices = [[whole[slot * step + offset:slot * step + offset + case.n] for whole, offset in zip(memory, offsets)]
                  for slot in range(self.slots)]
        self.results = [first for first, *_ in slices]
        self.operands = [rest for _, *rest in slices]
        words = case.bytes // 2 // many.BYTES[case.type]
        self.source, self.target = ([torch.randn(words, device="cuda").to(kind) for _ in range(self.slots)]
                                    for _ in range(2))

    def copy(self, slot):
        return self.target[slot].copy_(self.source[slot])


def in_pytorch(torch, case, arrays):
    """A function of a slot."""
    call = {"relu": lambda r, a: torch.clamp(a, min=0, out=r), "add": lambda r, a, b: torch.add(a, b, out=r),
            "fma": lambda r, a, b, c: torch.addcmul(c, a, b, out=r)}[case.op]
    return lambda slot: call(arrays.results[slot], *arrays.operands[slot])


def in_engine(torch, library, case, arrays):
    library.any_elementwise.restype = ctypes.c_char_p
    stream = stream_of(torch)
    asked = [AnyElementwise(case.what.encode(), 0, None, case.n, (ctypes.c_void_p * 2)(r.data_ptr()),
                            (ctypes.c_void_p * 3)(*(a.data_ptr() for a in operands)))
             for r, operands in zip(arrays.results, arrays.operands)]

    def called(slot):
        error = library.any_elementwise(ctypes.byref(asked[slot]), stream)
        if error:
            sys.exit(f"elementwise: {error.decode()}")
        return arrays.results[slot]
    return called


def in_cub(torch, library, case, arrays):
    stream, count = stream_of(torch), ctypes.c_int64(case.n)

    def called(slot):
        operands = (ctypes.c_void_p * 3)(*(a.data_ptr() for a in arrays.operands[slot]))
        if library.cub_transform(case.what.encode(), count, pointer(arrays.results[slot]), operands, stream):
            sys.exit(f"elementwise: CUB did not do {case}")
        return arrays.results[slot]
    return called


def check(case, by, got, expected):
    """Stops unless a result is PyTorch's, or as close as two roundings explain."""
    step = 0 if case.op == "relu" else {"float": 2 ** -22, "half": 2 ** -9, "bfloat16": 2 ** -6}[case.type]
    worst = ((got.double() - expected.double()).abs() - step * (expected.double().abs() + 1)).max().item()
    if not worst <= 0:
        sys.exit(f"elementwise: {by}, {case}: off by {worst} more than allowed; nothing is timed that is wrong")


def measure(torch, engine, cub, asked):
    timer = many.Timer(torch)
    for number, case in enumerate(asked):
        arrays = None  # Before there are others.
        torch.cuda.empty_cache()
        arrays = Arrays(torch, case)
        ways = {many.ENGINE: in_engine(torch, engine, case, arrays), CUB: in_cub(torch, cub, case, arrays),
                many.PYTORCH: in_pytorch(torch, case, arrays), records.COPY: arrays.copy}
        expected = ways[many.PYTORCH](0).clone()
        for by in (many.ENGINE, CUB):
            arrays.results[0].fill_(7)
            check(case, by, ways[by](0), expected)
        del expected
        rounds = [list(timer.times(number, ways, arrays.slots)) for _ in range(ROUNDS)]
        yield from (sorted(times, key=lambda time: time.p50_us)[ROUNDS // 2] for times in zip(*rounds))


def main(paths):
    if len(paths) != 2:
        sys.exit(__doc__)
    if torch := many.pytorch():
        asked = cases()
        times = list(measure(torch, *(ctypes.CDLL(ROOT / path) for path in paths), asked))
        many.keep(NAME, many.context(torch, "make elementwise", records.COPY, SOURCES, rounds=ROUNDS), asked, times)


if __name__ == "__main__":
    main(sys.argv[1:])
