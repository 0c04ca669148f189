// The contract of SiLU in half precision.
//
//   y[i] = x[i] / (1 + exp(-x[i]))     for 0 <= i < n
//
// Between y[i] and this number, computed in double and rounded to half, lies at
// most one step from one half to the next; below 2^-14 a step is 2^-24. For
// -infinity the number is its limit, zero, for +infinity it is +infinity; both,
// and NaN for NaN, are asked for without a tolerance. Zeros may have either
// sign.
//
// x and y are device arrays that do not overlap; each may start at any half,
// aligned for packs or not. n may be 0. x is never written to, and nothing
// outside y[0] to y[n - 1] is. All of the work is the GPU's and is queued on
// `stream`, so that a CUDA graph can record it; nothing waits for it. What a
// call takes, such as memory, it gives back.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

void silu(const __half* x, __half* y, int64_t n, cudaStream_t stream);
