// The contract of ReLU for training: forward, it keeps one bit per element;
// backward, those bits are all it needs.
//
//   relu_mask:           y[i] = x[i] > 0 ? x[i] : 0     for 0 <= i < n
//                        bit i % 32 of mask[i / 32] is x[i] > 0
//   relu_mask_backward:  dx[i] = that bit ? dy[i] : 0   for 0 <= i < n
//
// A NaN in x comes out in y, and its bit is 0; no result in y is -0. The mask
// has mask_words(n) words, and bits after the last element are 0. Backward
// selects: where the bit is 0, dx is +0 even if dy is infinite or NaN;
// where it is 1, dx is dy, bit for bit.
//
// All are device arrays that do not overlap; each may start at any of its
// elements, aligned for packs or not. n may be 0. Nothing is written outside of
// the outputs, least of all to the inputs. All of the work is the GPU's and is
// queued on `stream`, so that a CUDA graph can record it; nothing waits for it.
// What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

__host__ __device__ constexpr int64_t mask_words(int64_t n) {
  return (n + 31) / 32;
}

void relu_mask(const float* x, float* y, uint32_t* mask, int64_t n,
               cudaStream_t stream);
void relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                        int64_t n, cudaStream_t stream);
