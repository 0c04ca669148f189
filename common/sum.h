// The contract every sum chapter fulfils.
//
//   *out = x[0] + x[1] + ... + x[n - 1]     in any order, in float
//
// It is the file's own affair in which order, but sum_promise() has to own up
// to it: |*out - exact sum| <= depth * 2^-24 * (|x[0]| + ... + |x[n - 1]|), as
// long as no sum on the way overflows. A NaN, or infinities of both signs, give
// NaN; n may be 0 and gives +0. *out is written, not added to, and x is never
// changed. `scratch` is sum_scratch_floats(n) floats that the caller lends:
// what they hold before and after means nothing. x, out and scratch are device
// memory, do not overlap, and may start at any float. The work is queued on
// `stream`; nothing waits for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

struct SumPromise {
  int64_t depth;   // The most roundings between an element and *out.
  bool same_bits;  // Whether the same x gives the same bits in every run.
};

SumPromise sum_promise(int64_t n);

int64_t sum_scratch_floats(int64_t n);

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream);
