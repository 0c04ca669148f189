// The contract of interleave: two arrays become one of pairs.
//
//   pairs[2 i] = x[i], pairs[2 i + 1] = y[i]     for 0 <= i < n
//
// Every element keeps its bits, those of a NaN too. x and y hold n floats and
// pairs 2 n; all are device arrays that do not overlap, and each may start at
// any float, aligned for packs or not. n may be 0. x and y are never written
// to, and nothing outside pairs[0] to pairs[2 n - 1] is. All of the work is the
// GPU's and is queued on `stream`, so that a CUDA graph can record it; nothing
// waits for it. What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void interleave(const float* x, const float* y, float* pairs, int64_t n,
                cudaStream_t stream);
