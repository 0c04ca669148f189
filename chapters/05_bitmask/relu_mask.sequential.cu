// Chapter 05, a variant: a thread makes a byte of the mask by itself.
//
// New:   a thread owns eight neighbouring elements and writes one byte.
// Why:   no thread needs another one, so there is no vote; the GPU keeps the
//        low byte of a word first, so the mask is the same, bit for bit.
// Price: the lanes of a warp are 32 bytes apart. Each request touches as many
//        sectors as there are lanes, and only a cache makes up for it.

#include "common/check.h"
#include "common/relu_mask.h"

namespace {

constexpr int kBlock = 256;
constexpr int kBits = 8;  // Elements per thread.

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_mask_kernel(const float* __restrict__ x,
                                 float* __restrict__ y,
                                 uint8_t* __restrict__ mask, int64_t bytes,
                                 int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  float v[kBits];
  for (int k = 0; k < kBits; ++k) {
    const int64_t i = first * kBits + k;
    v[k] = i < n ? x[i] : 0.f;
  }
  uint32_t bits = 0;
  for (int k = 0; k < kBits; ++k) {
    const int64_t i = first * kBits + k;
    if (i < n) y[i] = rectify(v[k]);
    bits |= uint32_t{v[k] > 0.f} << k;
  }
  if (first < bytes) mask[first] = bits;
}

__global__ void relu_mask_backward_kernel(const float* __restrict__ dy,
                                          const uint8_t* __restrict__ mask,
                                          float* __restrict__ dx, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  const uint32_t bits = first * kBits < n ? mask[first] : 0;
  float v[kBits];
  for (int k = 0; k < kBits; ++k) {
    const int64_t i = first * kBits + k;
    v[k] = i < n ? dy[i] : 0.f;
  }
  for (int k = 0; k < kBits; ++k) {
    const int64_t i = first * kBits + k;
    if (i < n) dx[i] = bits >> k & 1 ? v[k] : 0.f;
  }
}

// The last word has to be complete, whatever n.
int64_t mask_bytes(int64_t n) { return 4 * mask_words(n); }
int64_t blocks_for(int64_t bytes) { return (bytes + kBlock - 1) / kBlock; }

}  // namespace

void relu_mask(const float* x, float* y, uint32_t* mask, int64_t n,
               cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  relu_mask_kernel<<<blocks_for(mask_bytes(n)), kBlock, 0, stream>>>(
      x, y, reinterpret_cast<uint8_t*>(mask), mask_bytes(n), n);
  CUDA_CHECK(cudaGetLastError());
}

void relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                        int64_t n, cudaStream_t stream) {
  if (n == 0) return;

  relu_mask_backward_kernel<<<blocks_for(mask_bytes(n)), kBlock, 0, stream>>>(
      dy, reinterpret_cast<const uint8_t*>(mask), dx, n);
  CUDA_CHECK(cudaGetLastError());
}
