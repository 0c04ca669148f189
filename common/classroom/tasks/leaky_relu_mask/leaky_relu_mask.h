// The contract of leaky ReLU for training: forward, it keeps one bit for each
// element; backward, those bits are all it needs.
//
//   leaky_relu_mask:           y[i] = x[i] > 0 ? x[i] : slope x[i]
//                              bit i % 32 of mask[i / 32] is x[i] > 0
//   leaky_relu_mask_backward:  dx[i] = that bit ? dy[i] : slope dy[i]
//
// both for 0 <= i < n. slope may be any float, also 0, negative or NaN, and a
// product is what float makes of it: 0 times infinity is NaN. A NaN in x comes
// out as a NaN, and its bit is 0. The mask has (n + 31) / 32 words, and bits
// after the last element are 0.
//
// All are device arrays that do not overlap; each may start at any of its
// elements, aligned for packs or not. n may be 0. Nothing is written outside of
// the outputs, least of all to the inputs. All of the work is the GPU's and is
// queued on `stream`, so that a CUDA graph can record it; nothing waits for it.
// What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void leaky_relu_mask(const float* x, float* y, uint32_t* mask, float slope,
                     int64_t n, cudaStream_t stream);
void leaky_relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                              float slope, int64_t n, cudaStream_t stream);
