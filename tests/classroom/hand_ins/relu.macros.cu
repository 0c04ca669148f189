// Hostile: macros of the harness and of CUDA are others, and so are words of
// C++.
#define CUDA_CHECK(call) (void)0
#define __global__
#define cudaSuccess 1
#define private public
#include "common/relu.h"

void relu(const float*, float*, int64_t, cudaStream_t) {}
