// The contract every sum chapter fulfils.
//
//   *out = x[0] + x[1] + ... + x[n - 1]
//
// The additions are float's, in an order that is the file's own affair, but
// sum_promise() says how exact it is. As long as no sum on the way overflows,
//
//   |*out - exact sum| <= depth * 2^-24 * (|x[0]| + ... + |x[n - 1]|).
//
// A NaN, or infinities of both signs, give NaN. n may be 0 and gives +0. *out
// is written, not added to; x is never written to. x, out and scratch are on
// the device, do not overlap, and may start at any float. All of the work is
// the GPU's and is queued on `stream`, so that a CUDA graph can record it and
// replay it; nothing waits for it. What a call takes, such as memory, it gives
// back.
//
// scratch is memory that the caller lends, sum_scratch_floats(n) floats, which
// are 0 when they are lent first. From then on they belong to sum(): calls of
// any n that they suffice for may use them, one after the other, and what is in
// them means nothing to the caller. Calls that may overlap, on two streams,
// need scratch of their own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

struct SumPromise {
  int64_t depth;   // The most roundings between an element and *out.
  bool same_bits;  // Whether the same x gives the same bits in every run.
  bool denormals;  // If not, what is nearer to 0 than 2^-126 may count as 0.
};

// Any depth may be promised, n too, where additions need it: at most 2 k + 256
// where k are found. What is promised is the same in every call.
SumPromise sum_promise(int64_t n);

int64_t sum_scratch_floats(int64_t n);

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream);
