// The contract of the dot product.
//
//   *out = x[0] y[0] + x[1] y[1] + ... + x[n - 1] y[n - 1]
//
// Products and sums are float's, in any order. As long as none of them
// overflows,
//
//   |*out - exact sum| <= (64 + n / 256) 2^-24 (|x[0] y[0]| + ...) + n 2^-125,
//
// so no product may go through much more than n / 256 roundings, and what is
// nearer to 0 than 2^-126 may count as 0. A NaN, infinities of both signs, or
// infinity times 0 give NaN. n may be 0 and gives 0. *out is written, not added
// to; x and y are never written to. scratch is memory that the caller lends,
// dot_scratch_floats(n) floats, and what is in it means nothing, before or
// after. All are on the device, do not overlap, and may start at any float. All
// of the work is the GPU's and is queued on `stream`, so that a CUDA graph can
// record it; nothing waits for it. What a call takes, such as memory, it gives
// back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

int64_t dot_scratch_floats(int64_t n);

void dot(const float* x, const float* y, float* out, int64_t n, float* scratch,
         cudaStream_t stream);
