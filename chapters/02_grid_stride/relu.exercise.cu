// Chapter 02: the grid-stride loop.
//
// New:   a thread takes every step-th element, so any grid fits any n.
// Why:   the grid can be as large as the GPU can use, and no larger; what a
//        thread works out before its loop serves all of its elements.
// Price: the loop's own instructions, a division to count its rounds among
//        them, and a question to the driver before each launch.

#include <algorithm>

#include "common/check.h"
#include "common/relu.h"

namespace {

constexpr int kBlock = 256;
constexpr int kWaves = 32;  // A wave is every block the GPU can hold at once.

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y,
                            int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // >>> Your code, at most 3 lines: let this thread compute y from x, by
  // rectify(), for every element that it has. Element `first` is its first one.
  // Each further one is as many elements away as the whole grid has threads,
  // until the array ends.
  (void)first, (void)rectify;  // Remove this line.
  // <<<
}

// The blocks to launch for n items: one thread each, up to kWaves waves.
constexpr int64_t grid_blocks(int64_t n, int sms, int threads_per_sm) {
  // >>> Your code, at most 4 lines: return how many blocks are launched. There
  // is one thread for each of the n items, but never more than kWaves waves of
  // blocks, and never less than one block. A wave is as many blocks as all SMs
  // hold at once, and an SM holds threads_per_sm threads.
  return (void)kWaves, 1;  // Remove this line.
  // <<<
}

int64_t grid_for(int64_t n) {
  int device, sms, threads_per_sm;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaDeviceGetAttribute(
      &threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return grid_blocks(n, sms, threads_per_sm);
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  relu_kernel<<<grid_for(n), kBlock, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
