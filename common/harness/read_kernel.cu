// How fast memory is read where nothing else is done.
#include "common/harness/bench.h"

namespace {

constexpr int kBlock = 256;
constexpr int kPacks = 4;  // A thread waits for 64 bytes at once.

__global__ void read_kernel(const float4* __restrict__ x, int64_t packs,
                            float* never) {
  const int64_t first = int64_t{blockIdx.x} * kBlock * kPacks + threadIdx.x;

  float4 v[kPacks] = {};
  for (int k = 0; k < kPacks; ++k) {
    const int64_t i = first + k * kBlock;
    if (i < packs) v[k] = x[i];
  }
  float most = 0.f;
  for (const float4 p : v) {
    most = fmaxf(fmaxf(most, fmaxf(p.x, p.y)), fmaxf(p.z, p.w));
  }
  // random_floats() has none so large, but the compiler cannot know that.
  if (most > 2.f) *never = most;
}

}  // namespace

void launch_read_kernel(const float* x, int64_t n, float* never,
                        cudaStream_t stream) {
  const int64_t packs = n / 4;
  constexpr int kTile = kBlock * kPacks;
  const int64_t grid = std::max<int64_t>(1, (packs + kTile - 1) / kTile);
  read_kernel<<<grid, kBlock, 0, stream>>>(reinterpret_cast<const float4*>(x),
                                           packs, never);
  CUDA_CHECK(cudaGetLastError());
}
