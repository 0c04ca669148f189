// The contract every ReLU chapter fulfils.
//
//   y[i] = x[i] > 0 ? x[i] : 0     for 0 <= i < n
//
// A NaN in x comes out as a NaN, and no result is -0 (as in PyTorch). x and y
// are device arrays that do not overlap; each may start at any float, aligned
// for packs or not. n may be 0. x is never changed, and nothing outside y[0]
// to y[n - 1] is written. The work is queued on `stream`; nothing waits for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void relu(const float* x, float* y, int64_t n, cudaStream_t stream);
