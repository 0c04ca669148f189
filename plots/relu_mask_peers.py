"""The backward pass of ReLU, in PyTorch's words, and in Triton's with a mask."""

from ladder.measured.work import Work, tl, triton


@triton.jit
def kernel(dy, mask, dx, n, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(dy + i, mask=i < n)
    bit = tl.load(mask + i // 32, mask=i < n) >> (i % 32).to(tl.int32) & 1
    tl.store(dx + i, tl.where(bit == 1, v, 0.0), mask=i < n)


class Peers(Work):
    """The backward pass: PyTorch's reads x, the others a bit of it."""
    symbol = "_Z18relu_mask_backwardPKfPKjPflP11CUstream_st"
    kernel = kernel
    series = "backward"
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
