// Chapter 01: one thread per element.
//
// New:   a kernel, in which each thread works out which element is its own.
// Why:   no element needs another, so all may be computed at once, and a GPU
//        hides the wait for memory by having many threads wait together.
// Price: a thread is set up, moves one float and ends: while it waits, memory
//        has little to do. A longer array needs a larger grid.

#include "common/check.h"
#include "common/relu.h"

namespace {

constexpr int kBlock = 256;

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y,
                            int64_t n) {
  // >>> Your code, at most 2 lines: work out the index of the element that this
  // thread has. If the array has such an element, let rectify() compute y there
  // from x there. Thread 0 of block 0 has element 0, its neighbour has element
  // 1, and the next block goes on where this one ends. There may be more than
  // 2^31 elements.
  (void)rectify;  // Remove this line.
  // <<<
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = (n + kBlock - 1) / kBlock;
  relu_kernel<<<grid, kBlock, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
