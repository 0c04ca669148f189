// The contract of a training step's BatchNorm, addition and ReLU in one.
//
// x has four dimensions: images, channels, height, width. A channel has
// m = images * height * width elements. The mean and the variance (divided by
// m) are taken over them. With
//
//   inverse_deviation = 1 / sqrt(variance + epsilon)
//   v = (x - mean) * inverse_deviation * gamma + beta + addend
//
//   bn_relu:           y = what.relu ? max(v, 0) : v, the mask, what backward
//                      needs of each channel, and the running statistics
//   bn_relu_inference: the same y of the running mean and variance
//   bn_relu_backward:  the gradients of x, gamma, beta and the addend
//
// Without an addend its pointer is null. With ReLU, bit i % 32 of mask[i / 32]
// is y[i] > 0, where i counts x as it lies in memory, and bits after the last
// element are 0: the mask of relu_mask.h, with mask_words(n) words. Without
// ReLU nobody needs it, and it may be null. Backward, g = bit ? dy : 0: where
// the bit is 0, an infinite or NaN dy counts as 0. dx, d_gamma and d_beta are
// the gradients for this g, which d_addend gets, unless it is null.
//
// The running variance is the unbiased one, divided by m - 1; of one element,
// 0. running = (1 - momentum) * running + momentum * new. Where m is 0, the
// mean and the variance are 0, and running statistics stay as they are.
//
// Numbers. Statistics and sums are float's, and every result is rounded to its
// type; v may be rounded to it before and after the addend is added. With
// R = max - min of a channel, the mean is off by at most 2^-24 |mean| + 2^-20
// R, the variance by at most 2^-18 R * deviation, and d_beta and d_gamma by
// 2^-18 of the sum of their terms' magnitudes, as long as no square overflows.
// The same call gives the same bits in every run on one kind of GPU.
//
// A NaN or an infinity in x makes all of its channel's y NaN, with bits 0, and
// its statistics NaN or infinite; no other channel notices. A NaN in the addend
// passes ReLU, and its bit is 0. No result of ReLU is -0.
//
// All are device arrays. y may be the addend itself, and d_addend dy itself;
// otherwise nothing overlaps. Each may start at any of its elements. Sizes may
// be 0. All of the work is the GPU's and is queued on `stream`, so that a CUDA
// graph can record it; nothing waits for it. What a call takes, it gives back.
//
// scratch is bn_relu_scratch_floats() floats at an address that 16 divides,
// which are 0 when they are lent first. From then on they belong to these
// functions: calls of any shape that they suffice for may use them, one after
// the other. Calls that may overlap need scratch of their own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

enum class Element : int32_t { kFloat, kHalf, kBfloat16 };

struct BnRelu {
  int64_t images, channels, height, width;
  bool channels_last;  // Neighbours in memory are channels, not columns.
  Element element;     // Of x, y, addend and their gradients.
  bool relu;
  float epsilon, momentum;
};

struct BnReluForward {
  const void* x;
  const void* addend;
  const float *gamma, *beta;               // One for each channel,
  float *running_mean, *running_variance;  // and so on.
  float *mean, *inverse_deviation;
  void* y;
  uint32_t* mask;
};

struct BnReluInference {
  const void* x;
  const void* addend;
  const float *gamma, *beta, *running_mean, *running_variance;
  void* y;
};

struct BnReluBackward {
  const void* dy;
  const uint32_t* mask;
  const void* x;
  const float *gamma, *mean, *inverse_deviation;
  void *dx, *d_addend;
  float *d_gamma, *d_beta;
};

int64_t bn_relu_scratch_floats(BnRelu what);

void bn_relu(BnRelu what, BnReluForward at, float* scratch,
             cudaStream_t stream);
void bn_relu_inference(BnRelu what, BnReluInference at, cudaStream_t stream);
void bn_relu_backward(BnRelu what, BnReluBackward at, float* scratch,
                      cudaStream_t stream);
