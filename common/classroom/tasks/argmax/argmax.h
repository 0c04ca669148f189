// The contract of argmax: where the largest number stands.
//
//   *out = the lowest i for which no x[j] is larger than x[i]
//
// -0 and +0 are equal. A NaN wins over every number: if there is one, *out is
// the index of the first. n may be 0 and gives -1. *out is written; x is never
// written to. scratch is memory that the caller lends, argmax_scratch_words(n)
// words of 8 bytes, and what is in it means nothing, before or after. All are
// on the device, do not overlap, and may start at any of their elements. All of
// the work is the GPU's and is queued on `stream`, so that a CUDA graph can
// record it; nothing waits for it. What a call takes, such as memory, it gives
// back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

int64_t argmax_scratch_words(int64_t n);

void argmax(const float* x, int64_t* out, int64_t n, int64_t* scratch,
            cudaStream_t stream);
