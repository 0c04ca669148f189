// Slow on purpose: a thread makes a whole word of the mask, element by element.
// Misses: sectors per load request, sectors per store request, bytes moved by
// all requests.

#include "common/check.h"
#include "common/classroom/tasks/leaky_relu_mask/leaky_relu_mask.h"

namespace {

constexpr int kBlock = 256;

__global__ void leaky_relu_mask_kernel(const float* __restrict__ x,
                                       float* __restrict__ y,
                                       uint32_t* __restrict__ mask, float slope,
                                       int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  uint32_t word = 0;
  for (int64_t i = 32 * first; i < 32 * (first + 1) && i < n; ++i) {
    const float v = x[i];
    y[i] = v > 0.f ? v : slope * v;
    if (v > 0.f) word |= 1u << (i % 32);
  }
  if (32 * first < n) mask[first] = word;
}

__global__ void leaky_relu_mask_backward_kernel(
    const float* __restrict__ dy, const uint32_t* __restrict__ mask,
    float* __restrict__ dx, float slope, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i >= n) return;
  const float v = dy[i];
  const bool was_positive = mask[i / 32] >> (i % 32) & 1;
  dx[i] = was_positive ? v : slope * v;
}

int64_t blocks_for(int64_t n) { return (n + kBlock - 1) / kBlock; }

}  // namespace

void leaky_relu_mask(const float* x, float* y, uint32_t* mask, float slope,
                     int64_t n, cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = blocks_for((n + 31) / 32);
  leaky_relu_mask_kernel<<<grid, kBlock, 0, stream>>>(x, y, mask, slope, n);
  CUDA_CHECK(cudaGetLastError());
}

void leaky_relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                              float slope, int64_t n, cudaStream_t stream) {
  if (n == 0) return;

  leaky_relu_mask_backward_kernel<<<blocks_for(n), kBlock, 0, stream>>>(
      dy, mask, dx, slope, n);
  CUDA_CHECK(cudaGetLastError());
}
