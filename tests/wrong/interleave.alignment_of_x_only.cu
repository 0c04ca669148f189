// Wrong on purpose: y and pairs are taken to be aligned where x is.

#include "common/check.h"
#include "common/classroom/tasks/interleave/interleave.h"

namespace {

constexpr int kBlock = 256;
constexpr int kPack = 2;  // Pairs: a store of 16 bytes, and two loads of 8.

// A thread that loaded 16 bytes of each array would store two packs, and the
// packs of neighbouring threads would not lie side by side.
struct alignas(8) Half {
  float v[kPack];
};
struct alignas(16) Pack {
  float v[2 * kPack];
};

__global__ void interleave_kernel(const float* __restrict__ x,
                                  const float* __restrict__ y,
                                  float* __restrict__ pairs, int64_t packs,
                                  int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (first < packs) {
    const Half a = reinterpret_cast<const Half*>(x)[first];
    const Half b = reinterpret_cast<const Half*>(y)[first];
    reinterpret_cast<Pack*>(pairs)[first] = {a.v[0], b.v[0], a.v[1], b.v[1]};
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

  const bool can_pack = is_aligned<Half>(x);
  const int64_t packs = can_pack ? n / kPack : 0;
  const int64_t threads = packs + (n - packs * kPack);
  const int64_t grid = (threads + kBlock - 1) / kBlock;
  interleave_kernel<<<grid, kBlock, 0, stream>>>(x, y, pairs, packs, n);
  CUDA_CHECK(cudaGetLastError());
}
