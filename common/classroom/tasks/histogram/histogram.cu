// histogram: a block counts many bytes in bins of its own, then adds them once.

#include "common/check.h"
#include "common/classroom/tasks/histogram/histogram.h"

namespace {

constexpr int kBins = 256;
constexpr int kBlock = kBins;  // A thread begins and ends with one bin.
constexpr int kPack = 16;
constexpr int kCoarse = 8;  // Packs that a thread counts, a block apart.
constexpr int kTile = kCoarse * kBlock;

struct alignas(16) Pack {
  uint8_t v[kPack];
};

// An item is a pack, or one of the bytes after the last pack.
__global__ void histogram_kernel(const uint8_t* __restrict__ x,
                                 uint32_t* __restrict__ counts, int64_t packs,
                                 int64_t n) {
  __shared__ uint32_t bins[kBins];
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;

  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < kCoarse; ++k) {
    const int64_t item = first + k * kBlock;
    if (item < packs) {
      const Pack pack = reinterpret_cast<const Pack*>(x)[item];
      for (const uint8_t v : pack.v) atomicAdd(&bins[v], 1);
    } else {
      const int64_t i = packs * kPack + (item - packs);
      if (i < n) atomicAdd(&bins[x[i]], 1);
    }
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

bool is_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(Pack) == 0;
}

}  // namespace

void histogram(const uint8_t* x, uint32_t* counts, int64_t n,
               cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(counts, 0, kBins * sizeof(uint32_t), stream));
  if (n == 0) return;  // A grid of no blocks is a launch error.

  const int64_t packs = is_aligned(x) ? n / kPack : 0;
  const int64_t items = packs + (n - packs * kPack);
  const int64_t grid = (items + kTile - 1) / kTile;
  histogram_kernel<<<grid, kBlock, 0, stream>>>(x, counts, packs, n);
  CUDA_CHECK(cudaGetLastError());
}
