// Slow on purpose: a thread loads 16 bytes of each array and stores two packs,
// which lie beside no other thread's packs of the same store.
// Misses: stored bytes that are used.

#include "common/check.h"
#include "common/classroom/tasks/interleave/interleave.h"

namespace {

constexpr int kBlock = 256;
constexpr int kPack = 4;

struct alignas(16) Pack {
  float v[kPack];
};

__global__ void interleave_kernel(const float* __restrict__ x,
                                  const float* __restrict__ y,
                                  float* __restrict__ pairs, int64_t packs,
                                  int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (first < packs) {
    const Pack a = reinterpret_cast<const Pack*>(x)[first];
    const Pack b = reinterpret_cast<const Pack*>(y)[first];
    Pack* two = reinterpret_cast<Pack*>(pairs) + 2 * first;
    two[0] = {a.v[0], b.v[0], a.v[1], b.v[1]};
    two[1] = {a.v[2], b.v[2], a.v[3], b.v[3]};
    return;
  }
  const int64_t i = packs * kPack + (first - packs);
  if (i >= n) return;
  pairs[2 * i] = x[i];
  pairs[2 * i + 1] = y[i];
}

template <class T>
bool is_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(T) == 0;
}

}  // namespace

void interleave(const float* x, const float* y, float* pairs, int64_t n,
                cudaStream_t stream) {
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const bool can_pack =
      is_aligned<Pack>(x) && is_aligned<Pack>(y) && is_aligned<Pack>(pairs);
  const int64_t packs = can_pack ? n / kPack : 0;
  const int64_t threads = packs + (n - packs * kPack);
  const int64_t grid = (threads + kBlock - 1) / kBlock;
  interleave_kernel<<<grid, kBlock, 0, stream>>>(x, y, pairs, packs, n);
  CUDA_CHECK(cudaGetLastError());
}
