"""Triton's peers, as its tutorials would write them: for peers.py."""

import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def _relu(x, y, n, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(v <= 0, 0.0, v), mask=i < n)


@triton.jit
def _gelu(x, y, n, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    twice_u = v * (1.5957691 + 0.07135481 * v * v)
    tl.store(y + i, (v * tl.sigmoid(twice_u)).to(tl.float16), mask=i < n)


@triton.jit
def _relu_mask_backward(dy, mask, dx, n, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(dy + i, mask=i < n)
    bit = tl.load(mask + i // 32, mask=i < n) >> (i % 32).to(tl.int32) & 1
    tl.store(dx + i, tl.where(bit == 1, v, 0.0), mask=i < n)


@triton.jit
def _sum(x, out, n, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


def relu(x, y):
    """y = max(x, 0) for float32 CUDA tensors of one dimension and length."""
    _relu[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), block=BLOCK)


def gelu(x, y):
    """y = gelu(x), tanh form, for float16 CUDA tensors of one dimension and length."""
    _gelu[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), block=BLOCK)


def relu_mask_backward(dy, mask, dx):
    """dx = dy where its bit is set in mask, else 0; int32 words of 32 bits each."""
    _relu_mask_backward[(triton.cdiv(dy.numel(), BLOCK),)](dy, mask, dx, dy.numel(), block=BLOCK)


def total(x, out):
    """out[0] = the sum of x, both float32 CUDA tensors; an atomic a block."""
    out[:1].zero_()
    _sum[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), block=BLOCK)
