// Leaky ReLU with a mask: a warp votes, and its answers are a word of the mask.

#include "common/check.h"
#include "common/classroom/tasks/leaky_relu_mask/leaky_relu_mask.h"

namespace {

constexpr int kBlock = 256;
constexpr uint32_t kAllLanes = 0xffffffff;
static_assert(kBlock % 32 == 0, "a word of the mask is a whole warp's vote");

// Lanes past the end stay for the vote: theirs are the mask's last zeros.
__global__ void leaky_relu_mask_kernel(const float* __restrict__ x,
                                       float* __restrict__ y,
                                       uint32_t* __restrict__ mask, float slope,
                                       int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  const float v = i < n ? x[i] : 0.f;
  const bool is_positive = v > 0.f;
  const uint32_t word = __ballot_sync(kAllLanes, is_positive);
  if (i >= n) return;
  y[i] = is_positive ? v : slope * v;
  if (i % 32 == 0) mask[i / 32] = word;
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

  const int64_t grid = blocks_for(n);
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
