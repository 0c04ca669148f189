# make residual        time chapter 16's kernels beside PyTorch's layers
# needs: chapters/16_bn_relu/bn_relu.so
"""Times chapter 16's BatchNorm, addition and ReLU beside PyTorch's layers, in one process, on this GPU.

    python -m plots.residual BN_RELU.so     `make residual` calls it so

Each case is a step of training, forward and backward, of the layers behind one of the convolutions
in ResNet-50's blocks: 11 shapes, at two sizes of a batch, in two types and two layouts. Two cases
more are forward passes without an addend, for which PyTorch's compiler is asked, too. Halves with
channels last go through cuDNN's fused kernels as well. Writes plots/data/<gpu>/<date>/residual.json:
of each case the time of the chapter, of PyTorch's eager layers, of those others, and of a plain copy
of as many bytes. Every result is compared with PyTorch's first.
It tells, too, what has to be kept in memory until the backward pass, beside x.
"""

import ctypes
import dataclasses
import math
import sys

from ladder.measured import cases as many
from ladder.measured.work import pointer, stream_of
from ladder.pages import ROOT
from plots import bn_relu_cudnn as fused
from plots.bn_relu_peers import EPSILON, MOMENTUM, Ends, Problem

NAME, COPY, COMPILED, CUDNN = "residual", "plain copy", "PyTorch, compiled", "cuDNN"
SOURCES = ("chapters/16_bn_relu/bn_relu.cu", "docs/ladder/measured/cases.py", "plots/bn_relu_peers.py",
           "plots/bn_relu_cudnn.py", "plots/residual.py")
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
    channels_last: bool = False
    only_forward: bool = False  # And then without an addend.
    known: str = ""

    @property
    def name(self):
        layout = "channels last" if self.channels_last else "channels first"
        shape = f"{self.images} x {self.channels} x {self.side} x {self.side}, {self.type}, {layout}"
        return f"{shape}, BatchNorm and ReLU" if self.only_forward else shape

    @property
    def n(self):
        return self.images * self.channels * self.side ** 2

    @property
    def bytes(self):
        """x, addend, y; dy, x, dx and the addend's gradient; a bit that is written, and read."""
        size = many.BYTES[self.type]
        return 2 * self.n * size + self.n // 8 if self.only_forward else 7 * self.n * size + self.n // 4


def cases():
    found = [Case(images, channels, side, kind, last) for kind in ("float", "half") for last in (False, True)
             for images in (8, 64) for channels, side in SHAPES]
    found += [Case(64, channels, side, "float", only_forward=True) for channels, side in ((256, 56), (64, 112))]
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


def pointers(*arrays):
    return [None if array is None else pointer(array) for array in arrays]


class Step:
    """A forward and a backward call on the arrays of a slot."""

    undecided = 0  # The part of all elements whose gradient may pass or not.

    def __init__(self, torch, case, arrays):
        self.torch, self.case, self.arrays = torch, case, arrays
        self.gamma, self.variance, self.beta, self.mean, *self.found = (
            torch.full((case.channels,), v, device="cuda") for v in (1., 1., 0., 0., 0., 0., 0., 0.))

    def __call__(self, slot):
        """(y, dx, gamma's gradient), or y alone."""
        y, kept = self.forward(slot)
        return (y,) if self.case.only_forward else (y, *self.backward(slot, y, kept))


class Chapter(Step):
    def __init__(self, torch, library, case, arrays):
        super().__init__(torch, case, arrays)
        self.library, self.stream = library, stream_of(torch)
        self.what = Problem(case.images, case.channels, case.side, case.side, case.channels_last,
                            ELEMENTS[case.type], True, EPSILON, MOMENTUM)
        self.out = [[torch.empty_like(arrays.x[0]) for _ in range(3)] for _ in range(min(arrays.slots, 8))]
        self.mask = torch.empty(-(-case.n // 32), dtype=torch.int32, device="cuda")
        self.kept = self.mask.nbytes
        floats = library._Z22bn_relu_scratch_floats6BnRelu
        floats.restype = ctypes.c_int64
        self.scratch = torch.zeros(floats(self.what), device="cuda")

    def forward(self, slot):
        y = self.out[slot % len(self.out)][0]
        addend = None if self.case.only_forward else self.arrays.addend[slot]
        ends = Ends(*pointers(self.arrays.x[slot], addend, self.gamma, self.beta, self.mean, self.variance,
                              *self.found[:2], y, self.mask))
        self.library._Z7bn_relu6BnRelu13BnReluForwardPfP11CUstream_st(
            self.what, ends, pointer(self.scratch), self.stream)
        return y, self.mask

    def backward(self, slot, y, mask):
        _, dx, d_addend = self.out[slot % len(self.out)]
        mean, inverse, d_gamma, d_beta = self.found
        slopes = Slopes(*pointers(self.arrays.dy[slot], mask, self.arrays.x[slot], self.gamma, mean, inverse,
                                  dx, d_addend, d_gamma, d_beta))
        self.library._Z16bn_relu_backward6BnRelu14BnReluBackwardPfP11CUstream_st(
            self.what, slopes, pointer(self.scratch), self.stream)
        return dx, d_gamma


class PyTorch(Step):
    """What its eager layers do, without the bookkeeping of gradients, which is Python's time."""

    @property
    def kept(self):
        """The bytes of y, by which ReLU's backward pass tells what had been positive."""
        return self.arrays.x[0].nbytes

    def forward(self, slot):
        y, *kept = self.torch.ops.aten._batch_norm_impl_index(
            self.arrays.x[slot], self.gamma, self.beta, self.mean, self.variance, True, MOMENTUM, EPSILON, True)
        if not self.case.only_forward:
            y.add_(self.arrays.addend[slot])
        return y.relu_(), kept

    def backward(self, slot, y, kept):
        aten, (mean, inverse, reserve, way) = self.torch.ops.aten, kept
        g = aten.threshold_backward(self.arrays.dy[slot], y, 0)
        dx, d_gamma, _ = aten._batch_norm_impl_index_backward(
            way, self.arrays.x[slot], g, self.gamma, self.mean, self.variance, mean, inverse, True, EPSILON,
            [True, True, True], reserve)
        return dx, d_gamma


class CuDNN(Step):
    """Its kernels that do all three layers at once, which PyTorch has no layer for."""

    undecided = 2 ** -20  # It keeps whether a sum was positive before it was rounded, perhaps to 0.

    def __init__(self, torch, library, case, arrays):
        super().__init__(torch, case, arrays)
        shape = (case.images, case.channels, case.side, case.side)
        self.layers = fused.BatchNormAddRelu(torch, library, shape, EPSILON, MOMENTUM)
        self.out = [[torch.empty_like(arrays.x[0]) for _ in range(3)] for _ in range(min(arrays.slots, 8))]

    def forward(self, slot):
        y = self.out[slot % len(self.out)][0]
        mean, inverse, *_ = self.found
        self.layers.forward(self.arrays.x[slot], self.arrays.addend[slot], y, self.gamma, self.beta,
                            self.mean, self.variance, mean, inverse)
        return y, None

    def backward(self, slot, y, kept):
        _, dx, d_addend = self.out[slot % len(self.out)]
        mean, inverse, d_gamma, d_beta = self.found
        self.layers.backward(self.arrays.x[slot], y, self.arrays.dy[slot], d_addend, dx, self.gamma, self.beta,
                             d_gamma, d_beta, mean, inverse)
        return dx, d_gamma


class Compiled(PyTorch):
    """What PyTorch's compiler makes of the forward pass; the first call waits for it."""

    def __init__(self, torch, case, arrays):
        super().__init__(torch, case, arrays)
        f = torch.nn.functional
        self.layers = torch.compile(lambda x: f.relu(f.batch_norm(
            x, self.mean, self.variance, self.gamma, self.beta, True, MOMENTUM, EPSILON)), dynamic=False)

    def forward(self, slot):
        with self.torch.no_grad():
            return self.layers(self.arrays.x[slot]), None


def check(case, way, pytorch):
    """Stops unless a way's results are PyTorch's, or as close as rounding explains.

    Backward, PyTorch gets the y of that way. Else a sum that one of them rounds to 0 and the other
    does not would let a gradient pass in one of them, and move those of the whole channel."""
    step = {"half": 2 ** -8, "bfloat16": 2 ** -5}.get(case.type, 2 ** -14)
    y, *slopes = way(0)
    theirs, kept = pytorch.forward(0)
    expected = [theirs] + ([] if case.only_forward else list(pytorch.backward(0, y, kept)))
    for which, mine, right in zip(("y", "dx", "gamma's gradient"), (y, *slopes), expected):
        slack = step * (right.double().abs() + 1) * (math.sqrt(case.n / case.channels) if right.dim() == 1 else 1)
        wrong = (~((mine.double() - right.double()).abs() <= slack)).sum().item()
        if wrong > way.undecided * right.numel():
            sys.exit(f"residual: {case.name}: {wrong:,} of {right.numel():,} elements of {which} are off; "
                     "nothing is timed that is wrong")


def tell_kept(case, chapter, pytorch):
    print(f"{case.name}: until the backward pass, beside x, the chapter keeps {chapter.kept / 1e6:.1f} MB, "
          f"PyTorch {pytorch.kept / 1e6:.1f} MB: {pytorch.kept / chapter.kept:.0f} times as much.")


def measure(torch, library, asked):
    timer, most = many.Timer(torch), max(case.bytes for case in asked)
    cudnn = fused.library(torch)
    if not cudnn:
        print("This PyTorch came without cuDNN: its fused kernels are left out.")
    longest = max(case.n for case in asked)
    pool, of = None, None
    for number, case in enumerate(asked):
        if of != case.type:
            pool = None  # Before there is another.
            torch.cuda.empty_cache()
            pool, of = many.Pool(torch, case.type, 2 * most), case.type
        arrays = Arrays(pool, case)
        chapter, pytorch = Chapter(torch, library, case, arrays), PyTorch(torch, case, arrays)
        ways = {many.ENGINE: chapter}
        if case.only_forward:
            ways[COMPILED] = Compiled(torch, case, arrays)
        if cudnn and case.channels_last and case.type == "half":
            ways[CUDNN] = CuDNN(torch, cudnn, case, arrays)
        for way in ways.values():
            check(case, way, pytorch)
        ways[many.PYTORCH] = pytorch
        if case.n == longest and not case.only_forward:
            tell_kept(case, chapter, pytorch)
        plain = pool.arrays(case.bytes // 2 // many.BYTES[case.type])
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
