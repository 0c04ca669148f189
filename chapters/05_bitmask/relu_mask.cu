// Chapter 05: the bitmask.
//
// New:   a warp votes, and its 32 answers are one word of a mask in memory.
// Why:   all that the backward pass has to know of an element is whether it was
//        positive: a bit tells, where keeping y takes a whole float.
// Price: every lane of a warp has to vote, those past the end too, so blocks
//        are made of whole warps. As in chapter 01, a thread moves one float.

#include "common/check.h"
#include "common/relu_mask.h"

namespace {

constexpr int kBlock = 256;
constexpr uint32_t kAllLanes = 0xffffffff;
static_assert(kBlock % 32 == 0, "a word of the mask is a whole warp's vote");

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

// Lanes past the end stay for the vote: theirs are the mask's last zeros.
__global__ void relu_mask_kernel(const float* __restrict__ x,
                                 float* __restrict__ y,
                                 uint32_t* __restrict__ mask, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  const float v = i < n ? x[i] : 0.f;
  const uint32_t word = __ballot_sync(kAllLanes, v > 0.f);
  if (i >= n) return;
  y[i] = rectify(v);
  if (i % 32 == 0) mask[i / 32] = word;
}

__global__ void relu_mask_backward_kernel(const float* __restrict__ dy,
                                          const uint32_t* __restrict__ mask,
                                          float* __restrict__ dx, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i >= n) return;
  const float v = dy[i];  // Before the bit is known: both loads overlap.
  const bool was_positive = mask[i / 32] >> (i % 32) & 1;
  dx[i] = was_positive ? v : 0.f;
}

int64_t blocks_for(int64_t n) { return (n + kBlock - 1) / kBlock; }

}  // namespace

void relu_mask(const float* x, float* y, uint32_t* mask, int64_t n,
               cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t grid = blocks_for(n);
  relu_mask_kernel<<<grid, kBlock, 0, stream>>>(x, y, mask, n);
  CUDA_CHECK(cudaGetLastError());
}

void relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                        int64_t n, cudaStream_t stream) {
  if (n == 0) return;

  const int64_t grid = blocks_for(n);
  relu_mask_backward_kernel<<<grid, kBlock, 0, stream>>>(dy, mask, dx, n);
  CUDA_CHECK(cudaGetLastError());
}
