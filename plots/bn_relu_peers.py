"""BatchNorm with batch statistics and ReLU, in PyTorch's words: two layers, eager.

In Triton's, the statistics are PyTorch's, and a kernel normalises and rectifies.
"""

import ctypes

from ladder.measured.work import Work, pointer, tl, triton

CHANNELS, PIXELS, EPSILON, MOMENTUM = 64, 4096, 1e-5, 0.1


class Problem(ctypes.Structure):
    """As BnRelu in the contract."""
    _fields_ = [(name, ctypes.c_int64) for name in ("images", "channels", "height", "width")] + [
        ("channels_last", ctypes.c_bool), ("element", ctypes.c_int32), ("relu", ctypes.c_bool),
        ("epsilon", ctypes.c_float), ("momentum", ctypes.c_float)]


class Ends(ctypes.Structure):
    """As BnReluForward in the contract."""
    _fields_ = [(name, ctypes.c_void_p) for name in (
        "x", "addend", "gamma", "beta", "running_mean", "running_variance", "mean",
        "inverse_deviation", "y", "mask")]


@triton.jit
def kernel(x, mean, inverse, y, n, pixels, channels, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    c = i // pixels % channels
    v = (tl.load(x + i, mask=i < n) - tl.load(mean + c)) * tl.load(inverse + c)
    tl.store(y + i, tl.where(v > 0, v, 0.0), mask=i < n)


class Peers(Work):
    """The forward pass; the chapter's keeps a mask, too."""
    symbol = "_Z7bn_relu6BnRelu13BnReluForwardPfP11CUstream_st"
    kernel = kernel
    bytes_per_element = 8.125
    allowed = 2 ** -16

    def __init__(self, torch, n, cache):
        super().__init__(torch, n, cache)
        # As plots/bn_relu_shapes.h has it for powers of two.
        self.channels = min(CHANNELS, n)
        self.pixels = min(PIXELS, n // self.channels)
        self.images = n // self.channels // self.pixels
        self.ones, self.zeros, *self.spare = (
            torch.full((self.channels,), v, device="cuda") for v in (1., 0., 0., 1., 0., 0.))
        self.mask = torch.empty(-(-n // 32), dtype=torch.int32, device="cuda")
        self.scratch = {}  # By library: what one leaves there is not for another.

    def shaped(self, slot):
        return self.x[slot].view(self.images, self.channels, 1, self.pixels)

    def pytorch(self, slot):
        f = self.torch.nn.functional
        mean, variance = self.spare[:2]
        z = f.batch_norm(self.shaped(slot), mean, variance, self.ones, self.zeros, True, MOMENTUM, EPSILON)
        self.kept[slot] = f.relu(z).view(-1)
        return self.kept[slot]

    def triton(self, slot):
        variance, mean = self.torch.var_mean(self.shaped(slot), (0, 2, 3), correction=0)
        grid = (triton.cdiv(self.n, 4096),)
        self.kernel[grid](self.x[slot], mean, self.torch.rsqrt(variance + EPSILON), self.y[slot],
                          self.n, self.pixels, self.channels, block=4096)
        return self.y[slot]

    def arguments(self, slot, library):
        what = Problem(self.images, self.channels, 1, self.pixels, False, 0, True, EPSILON, MOMENTUM)
        if library not in self.scratch:
            floats = library._Z22bn_relu_scratch_floats6BnRelu
            floats.restype = ctypes.c_int64
            self.scratch[library] = self.torch.zeros(floats(what), device="cuda")
        ends = Ends(*map(pointer, (self.x[slot],)), None, *map(pointer, (
            self.ones, self.zeros, *self.spare, self.y[slot], self.mask)))
        return what, ends, pointer(self.scratch[library])
