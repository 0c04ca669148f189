#!/usr/bin/env python3
"""The kernels of kernels.cu in numba's CUDA simulator, as it is used: Python.
NUMBA_ENABLE_CUDASIM=1 in the environment chooses the simulator.

Each runs once to load it, then REPEATS times. A simulated thread costs so much
more than one of the executor that there are but few of them.

Prints one line a kernel, as kernels.cu does: name, threads, nanoseconds of CPU
time a thread, one each time.
"""

import time

import numpy as np
from numba import cuda, float32, int32

BLOCK = 256
THREADS = 4 * BLOCK
REPEATS = 3


@cuda.jit
def copy(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = x[i]


@cuda.jit
def pack(x, y, packs):
    """Four elements a thread; the simulator has no float4 in memory."""
    i = cuda.grid(1)
    if i < packs:
        for k in range(4 * i, 4 * i + 4):
            y[k] = x[k]


@cuda.jit
def saxpy(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i] + y[i]


@cuda.jit
def block_sum(x, y, n):
    partial = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = x[i] if i < n else 0
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            partial[t] += partial[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        y[cuda.blockIdx.x] = partial[0]


@cuda.jit
def collatz(x, y, n):
    i = cuda.grid(1)
    if i >= n:
        return
    steps = 0
    v = i % 64 + 1
    while v != 1:
        if v % 2:
            v = 3 * v + 1
        else:
            v //= 2
        steps += 1
    y[i] = steps


@cuda.jit
def histogram(x, y, n):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 64:
        bins[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(bins, int(x[i]) & 63, 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(y, t, bins[t])


def main():
    x = cuda.to_device(np.zeros(4 * THREADS, np.float32))
    y = cuda.to_device(np.zeros(4 * THREADS, np.float32))
    for kernel in (copy, pack, saxpy, block_sum, collatz, histogram):
        samples = []
        for _ in range(1 + REPEATS):
            start = time.process_time_ns()
            kernel[THREADS // BLOCK, BLOCK](x, y, THREADS)
            samples.append((time.process_time_ns() - start) / THREADS)
        print(f"{kernel.fn.__name__:10} {THREADS:9} threads, ns a thread:",
              *(f"{sample:.2f}" for sample in samples[1:]), flush=True)


if __name__ == "__main__":
    main()
