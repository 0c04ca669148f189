// Wrong on purpose: each product is added to *out, which rounds it n times.

#include "common/check.h"
#include "common/classroom/tasks/dot/dot.h"

namespace {

constexpr int kBlock = 256;

__global__ void dot_kernel(const float* __restrict__ x,
                           const float* __restrict__ y, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i < n) atomicAdd(out, x[i] * y[i]);
}

}  // namespace

int64_t dot_scratch_floats(int64_t) { return 0; }

void dot(const float* x, const float* y, float* out, int64_t n, float*,
         cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = (n + kBlock - 1) / kBlock;
  dot_kernel<<<grid, kBlock, 0, stream>>>(x, y, out, n);
  CUDA_CHECK(cudaGetLastError());
}
