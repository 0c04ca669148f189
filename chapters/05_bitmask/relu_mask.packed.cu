// Chapter 05, a variant: packs, and words that eight lanes join.
//
// New:   a lane makes four bits of a pack, and shuffles join those of eight.
// Why:   16 bytes in flight per thread, as in chapter 03; a shuffle takes a
//        register of another lane without going through memory.
// Price: 16-byte addresses, and three shuffles per pack. Misaligned arrays, and
//        the last n % 4 floats, still travel one at a time.

#include "common/check.h"
#include "common/pack.h"
#include "common/relu_mask.h"

namespace {

constexpr int kBlock = 256, kTile = kBlock * kPack;
constexpr int kLanes = 32 / kPack;  // They make one word of the mask.

// A pack in one access where it is whole, else what there is of it.
__device__ void copy_pack(float* to, const float* from, bool whole,
                          int64_t left) {
  if (whole) {
    *reinterpret_cast<Pack*>(to) = *reinterpret_cast<const Pack*>(from);
    return;
  }
  for (int k = 0; k < kPack && k < left; ++k) to[k] = from[k];
}

__global__ void relu_mask_kernel(const float* __restrict__ x,
                                 float* __restrict__ y,
                                 uint32_t* __restrict__ mask, int64_t packs,
                                 int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int shift = threadIdx.x % kLanes * kPack;

  Pack pack = {};
  copy_pack(pack.v, x + i * kPack, i < packs, n - i * kPack);
  uint32_t word = 0;
  for (int k = 0; k < kPack; ++k) {
    word |= uint32_t{pack.v[k] > 0.f} << (shift + k);
    pack.v[k] = pack.v[k] <= 0.f ? 0.f : pack.v[k];  // A NaN passes.
  }
  copy_pack(y + i * kPack, pack.v, i < packs, n - i * kPack);
  for (int far = 1; far < kLanes; far *= 2)
    word |= __shfl_xor_sync(0xffffffff, word, far);
  if (shift == 0 && i * kPack < n) mask[i / kLanes] = word;
}

__global__ void relu_mask_backward_kernel(const float* __restrict__ dy,
                                          const uint32_t* __restrict__ mask,
                                          float* __restrict__ dx, int64_t packs,
                                          int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i * kPack >= n) return;

  Pack pack = {};
  copy_pack(pack.v, dy + i * kPack, i < packs, n - i * kPack);
  // After the pack: to take the bits out, a thread waits for the word.
  const uint32_t bits = mask[i / kLanes] >> (threadIdx.x % kLanes * kPack);
  for (int k = 0; k < kPack; ++k) pack.v[k] = bits >> k & 1 ? pack.v[k] : 0.f;
  copy_pack(dx + i * kPack, pack.v, i < packs, n - i * kPack);
}

}  // namespace

void relu_mask(const float* x, float* y, uint32_t* mask, int64_t n,
               cudaStream_t stream) {
  const int64_t packs = is_aligned(x) && is_aligned(y) ? n / kPack : 0;
  const int64_t grid = n / kTile + 1;  // Never 0.
  relu_mask_kernel<<<grid, kBlock, 0, stream>>>(x, y, mask, packs, n);
  CUDA_CHECK(cudaGetLastError());
}

void relu_mask_backward(const float* dy, const uint32_t* mask, float* dx,
                        int64_t n, cudaStream_t stream) {
  const int64_t packs = is_aligned(dy) && is_aligned(dx) ? n / kPack : 0;
  const int64_t grid = n / kTile + 1;
  relu_mask_backward_kernel<<<grid, kBlock, 0, stream>>>(dy, mask, dx, packs,
                                                         n);
  CUDA_CHECK(cudaGetLastError());
}
