// The contract every GELU chapter fulfils.
//
//   y[i] = x[i] / 2 (1 + tanh(u)),   u = sqrt(2 / pi) (x[i] + 0.044715 x[i]^3),
//        = x[i] / (1 + exp(-2 u))    for 0 <= i < n
//
// Each file promises how exactly: between y[i] and this number, computed in
// double and rounded to half, lie at most gelu_ulps() steps from one half to
// the next. Below 2^-14 a step is 2^-24. For -infinity the number is its limit,
// zero (PyTorch's formula gives NaN), for +infinity it is +infinity; both, and
// NaN for NaN, are promised without a tolerance. Zeros may have either sign.
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

void gelu(const __half* x, __half* y, int64_t n, cudaStream_t stream);

// At most 32, which is 3 % of a normal result, and at most 2 k + 1 where the
// worst result is k steps off: a promise without need is none. It is the same
// in every call.
int gelu_ulps();
