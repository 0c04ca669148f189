// The contract of the histogram: how often each byte comes.
//
//   counts[v] = how many i there are with x[i] == v     for 0 <= v < 256
//
// counts has 256 words, which are written, not added to; n is less than 2^32,
// so that each can hold any count. n may be 0. x is never written to, and
// nothing outside of counts is. Both are device arrays that do not overlap; x
// may start at any byte and counts at any of its words. All of the work is the
// GPU's and is queued on `stream`, so that a CUDA graph can record it; nothing
// waits for it. What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void histogram(const uint8_t* x, uint32_t* counts, int64_t n,
               cudaStream_t stream);
