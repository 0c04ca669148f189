"""A transpose in PyTorch's words, and in Triton's with a tile per program."""

import ctypes

from ladder.measured.work import Work, pointer, tl, triton

SIDE = 64  # Of a tile of Triton's.


@triton.jit
def kernel(x, y, rows, columns, side: tl.constexpr):
    across = tl.cdiv(columns, side)
    top, left = tl.program_id(0) // across * side, tl.program_id(0) % across * side
    r, c = top + tl.arange(0, side).to(tl.int64), left + tl.arange(0, side).to(tl.int64)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=inside)
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(tile), mask=tl.trans(inside))


class Peers(Work):
    symbol = "_Z9transposePKfPfllP11CUstream_st"
    kernel = kernel

    def __init__(self, torch, n, cache):
        super().__init__(torch, n, cache)
        self.rows = 1 << (n.bit_length() - 1) // 2  # All sizes are powers of two.
        self.columns = n // self.rows

    def of(self, x):
        return x.view(self.rows, self.columns).t().contiguous().view(-1)

    def triton(self, slot):
        tiles = triton.cdiv(self.rows, SIDE) * triton.cdiv(self.columns, SIDE)
        self.kernel[(tiles,)](self.x[slot], self.y[slot], self.rows, self.columns, side=SIDE)
        return self.y[slot]

    def arguments(self, slot, _):
        return (pointer(self.x[slot]), pointer(self.y[slot]),
                ctypes.c_int64(self.rows), ctypes.c_int64(self.columns))
