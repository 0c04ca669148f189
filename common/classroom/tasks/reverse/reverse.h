// The contract of reverse: an array back to front.
//
//   y[i] = x[n - 1 - i]     for 0 <= i < n
//
// Every element keeps its bits, those of a NaN too. x and y are device arrays
// that do not overlap; each may start at any float, aligned for packs or not. n
// may be 0. x is never written to, and nothing outside y[0] to y[n - 1] is. All
// of the work is the GPU's and is queued on `stream`, so that a CUDA graph can
// record it; nothing waits for it. What a call takes, such as memory, it gives
// back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void reverse(const float* x, float* y, int64_t n, cudaStream_t stream);
