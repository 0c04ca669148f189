// The contract of moving_sum: each element becomes the sum of its neighbours.
//
//   y[i] = x[i - 16] + x[i - 15] + ... + x[i + 16]     for 0 <= i < n
//
// What would lie outside of the array is left out. The additions are float's,
// one after the other from left to right, so that each bit of the result is
// given; only a NaN may be any NaN. x and y are device arrays that do not
// overlap; each may start at any float, aligned for packs or not. n may be 0. x
// is never written to, and nothing outside y[0] to y[n - 1] is. All of the work
// is the GPU's and is queued on `stream`, so that a CUDA graph can record it;
// nothing waits for it. What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

constexpr int kReach = 16;  // So many neighbours on either side.

void moving_sum(const float* x, float* y, int64_t n, cudaStream_t stream);
