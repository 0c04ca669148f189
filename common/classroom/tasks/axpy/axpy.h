// The contract of axpy: a multiple of one array is added to another.
//
//   y[i] = a x[i] + y[i]     for 0 <= i < n
//
// Each result is rounded once, as fmaf() rounds it: nvcc makes that of a
// product and a sum. No a is a case of its own: 0 times infinity is NaN. A NaN
// comes out as a NaN. x and y are device arrays that do not overlap; each may
// start at any float, aligned for packs or not. n may be 0. x is never written
// to, and nothing outside y[0] to y[n - 1] is. All of the work is the GPU's and
// is queued on `stream`, so that a CUDA graph can record it; nothing waits for
// it. What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void axpy(float a, const float* x, float* y, int64_t n, cudaStream_t stream);
