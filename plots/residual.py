"""Times chapter 16's BatchNorm, addition and ReLU beside PyTorch's layers, in one process, on this GPU.

    python -m plots.residual BN_RELU.so     `make residual` calls it so

Each case is a step of training, forward and backward, of the layers behind one of the convolutions
in ResNet-50's blocks: 11 shapes, at two sizes of a batch, in two types and two layouts. Writes
plots/data/<gpu>/<date>/residual.json: of each case the time of the chapter, of PyTorch's eager
layers, and of a plain copy of as many bytes. Every result is compared with PyTorch's first.
"""

import ctypes
import dataclasses
import math
import sys

from ladder.measured import cases as many
from ladder.measured.work import pointer, stream_of
from ladder.pages import ROOT
from plots.bn_relu_peers import EPSILON, MOMENTUM, Ends, Problem

NAME, COPY = "residual", "plain copy"
SOURCES = ("chapters/16_bn_relu/bn_relu.cu", "docs/ladder/measured/cases.py", "plots/bn_relu_peers.py", "plots/residual.py")
SHAPES = [(64, 56), (256, 56), (128, 56), (128, 28), (512, 28), (256, 28), (256, 14), (1024, 14), (512, 14),
          (512, 7), (2048, 7)]  # Channels, and pixels along each side.
ELEMENTS = {"float": 0, "half": 1, "bfloat16": 2}  # As the contract's Element.


class Slopes(ctypes.Structure):
    """As BnReluBackward in the contract."""
    _fields_ = [(name, ctypes.c_void_p) for name in (
        "dy", "mask", "x", "gamma", "mean", "inverse_deviation", "dx", "d_addend", "d_gamma", "d_beta")]


@dataclasses.dataclass(frozen=True)
class Case:
    images: int
    channels: int
    side: int
    type: str
    channels_last: bool
    known: str = ""

    @property
    def name(self):
        layout = "channels last" if self.channels_last else "channels first"
        return f"{self.images} x {self.channels} x {self.side} x {self.side}, {self.type}, {layout}"

    @property
    def n(self):
        return self.images * self.channels * self.side ** 2

    @property
    def bytes(self):
        """x, addend, y; dy, x, dx and the addend's gradient; a bit that is written, and read."""
        return 7 * self.n * many.BYTES[self.type] + self.n // 4


def cases():
    found = [Case(images, channels, side, kind, last) for kind in ("float", "half") for last in (False, True)
             for images in (8, 64) for channels, side in SHAPES]
    return sorted(found, key=lambda case: case.type)  # One pool of memory for each type.


class Arrays:
    """The arrays of a case: x, addends and gradients, each slot's its own."""

    def __init__(self, pool, case):
        shape = (case.images, case.channels, case.side, case.side)
        if case.channels_last:
            found = [array.permute(0, 3, 1, 2) for array in pool.arrays(shape[0], *shape[2:], shape[1])]
        else:
            found = pool.arrays(*shape)
        third = len(found) // 3
        self.x, self.addend, self.dy = found[:third], found[third:2 * third], found[2 * third:3 * third]
        self.slots = third


class Step:
    """A forward and a backward call: a function of a slot that returns y, dx and gamma's gradient."""

    def __init__(self, torch, case, arrays):
        self.torch, self.case, self.arrays = torch, case, arrays
        self.gamma, self.variance, self.beta, self.mean, *self.found = (
            torch.full((case.channels,), v, device="cuda") for v in (1., 1., 0., 0., 0., 0., 0., 0.))


class Chapter(Step):
    def __init__(self, torch, library, case, arrays):
        super().__init__(torch, case, arrays)
        self.library, self.stream = library, stream_of(torch)
        self.what = Problem(case.images, case.channels, case.side, case.side, case.channels_last,
                            ELEMENTS[case.type], True, EPSILON, MOMENTUM)
        self.out = [[torch.empty_like(arrays.x[0]) for _ in range(3)] for _ in range(min(arrays.slots, 8))]
        self.mask = torch.empty(-(-case.n // 32), dtype=torch.int32, device="cuda")
        floats = library._Z22bn_relu_scratch_floats6BnRelu
        floats.restype = ctypes.c_int64
        self.scratch = torch.zeros(floats(self.what), device="cuda")

    def __call__(self, slot):
        y, dx, d_addend = self.out[slot % len(self.out)]
        mean, inverse, d_gamma, d_beta = self.found
        x = self.arrays.x[slot]
        forward = Ends(*map(pointer, (x, self.arrays.addend[slot], self.gamma, self.beta, self.mean,
                                      self.variance, mean, inverse, y, self.mask)))
        backward = Slopes(*map(pointer, (self.arrays.dy[slot], self.mask, x, self.gamma, mean, inverse,
                                         dx, d_addend, d_gamma, d_beta)))
        lent = pointer(self.scratch)
        self.library._Z7bn_relu6BnRelu13BnReluForwardPfP11CUstream_st(self.what, forward, lent, self.stream)
        self.library._Z16bn_relu_backward6BnRelu14BnReluBackwardPfP11CUstream_st(
            self.what, backward, lent, self.stream)
        return y, dx, d_gamma


class PyTorch(Step):
    """What its eager layers do, without the bookkeeping of gradients, which is Python's time."""

    def __call__(self, slot):
        aten, x = self.torch.ops.aten, self.arrays.x[slot]
        y, mean, inverse, reserve, way = aten._batch_norm_impl_index(
            x, self.gamma, self.beta, self.mean, self.variance, True, MOMENTUM, EPSILON, True)
        y.add_(self.arrays.addend[slot]).relu_()
        g = aten.threshold_backward(self.arrays.dy[slot], y, 0)
        dx, d_gamma, _ = aten._batch_norm_impl_index_backward(
            way, x, g, self.gamma, self.mean, self.variance, mean, inverse, True, EPSILON,
            [True, True, True], reserve)
        return y, dx, d_gamma


def check(case, got, expected):
    """Stops unless the chapter's results are PyTorch's, or as close as rounding explains. Where a
    sum was rounded to 0, or was not, one gradient may be another; of many, few are."""
    step = {"half": 2 ** -8, "bfloat16": 2 ** -5}.get(case.type, 2 ** -14)
    for which, mine, theirs in zip(("y", "dx", "gamma's gradient"), got, expected):
        slack = step * (theirs.double().abs() + 1) * (math.sqrt(case.n / case.channels) if theirs.dim() == 1 else 1)
        wrong = ((mine.double() - theirs.double()).abs() > slack).double().mean().item()
        if not wrong <= (1e-4 if which == "dx" else 0):
            sys.exit(f"residual: {case.name}: {wrong:.2%} of {which} are off; nothing is timed that is wrong")


def measure(torch, library, asked):
    timer, most = many.Timer(torch), max(case.bytes for case in asked)
    pool, of = None, None
    for number, case in enumerate(asked):
        if of != case.type:
            pool = None  # Before there is another.
            torch.cuda.empty_cache()
            pool, of = many.Pool(torch, case.type, 2 * most), case.type
        arrays = Arrays(pool, case)
        ways = {many.ENGINE: Chapter(torch, library, case, arrays), many.PYTORCH: PyTorch(torch, case, arrays)}
        check(case, ways[many.ENGINE](0), ways[many.PYTORCH](0))
        words = case.bytes // 2 // many.BYTES[case.type]
        plain = pool.arrays(words)
        target = torch.empty_like(plain[0])
        ways[COPY] = lambda slot: target.copy_(plain[slot % len(plain)])
        yield from timer.times(number, ways, arrays.slots)


def main(paths):
    if len(paths) != 1:
        sys.exit(__doc__)
    if torch := many.pytorch():
        asked = cases()
        times = list(measure(torch, ctypes.CDLL(ROOT / paths[0]), asked))
        many.keep(NAME, many.context(torch, "make residual", COPY, SOURCES), asked, times)


if __name__ == "__main__":
    main(sys.argv[1:])
