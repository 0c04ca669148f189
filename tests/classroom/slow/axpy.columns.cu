// Slow on purpose: neighbouring threads take elements that lie a grid apart.
// Misses: sectors per load request, sectors per store request, bytes moved by
// all requests.

#include "common/check.h"
#include "common/classroom/tasks/axpy/axpy.h"

namespace {

constexpr int kBlock = 256;

__global__ void axpy_kernel(float a, const float* __restrict__ x,
                            float* __restrict__ y, int64_t n) {
  const int64_t i = int64_t{threadIdx.x} * gridDim.x + blockIdx.x;

  if (i < n) y[i] = a * x[i] + y[i];
}

}  // namespace

void axpy(float a, const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = (n + kBlock - 1) / kBlock;
  axpy_kernel<<<grid, kBlock, 0, stream>>>(a, x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
