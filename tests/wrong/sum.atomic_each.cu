// Odd on purpose, and right: every number is added to the result by itself, and
// sum_promise() says so.

#include <algorithm>

#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 256;

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i < n) atomicAdd(out, x[i]);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = (n + kBlock - 1) / kBlock;
  sum_kernel<<<grid, kBlock, 0, stream>>>(x, out, n);
  CUDA_CHECK(cudaGetLastError());
}

int64_t sum_scratch_floats(int64_t) { return 0; }

SumPromise sum_promise(int64_t n) {
  return {.depth = n, .same_bits = false, .denormals = false};
}
