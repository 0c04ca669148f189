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

  // >>> Your code, at most 6 lines: all 32 lanes of a warp vote whether their
  // x[i] is positive; a lane past the end of the array votes no. The votes
  // are one word of the mask, in which lane k has bit k. Then every lane that
  // has an element lets rectify() compute y[i], and one lane of the warp writes
  // the word. Element i has bit i % 32 of mask[i / 32].
  (void)i, (void)rectify, (void)kAllLanes;  // Remove this line.
  // <<<
}

__global__ void relu_mask_backward_kernel(const float* __restrict__ dy,
                                          const uint32_t* __restrict__ mask,
                                          float* __restrict__ dx, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i >= n) return;
  const float v = dy[i];  // Before the bit is known: both loads overlap.
  // >>> Your code, at most 3 lines: write v to dx[i] where the mask's bit of
  // element i is 1, and 0 where it is 0, whatever v is.
  (void)v;  // Remove this line.
  // <<<
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
