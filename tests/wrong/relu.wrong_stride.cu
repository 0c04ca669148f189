// Wrong on purpose: the step of the pack loop counts floats, not packs.

#include "common/check.h"
#include "common/grid.h"
#include "common/pack.h"
#include "common/relu.h"

namespace {

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y,
                            int64_t packs, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;

  for (int64_t i = first; i < packs; i += step * kPack) {
    Pack pack = reinterpret_cast<const Pack*>(x)[i];
    for (float& v : pack.v) v = rectify(v);
    reinterpret_cast<Pack*>(y)[i] = pack;
  }
  for (int64_t i = packs * kPack + first; i < n; i += step) {
    y[i] = rectify(x[i]);
  }
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const int64_t packs = is_aligned(x) && is_aligned(y) ? n / kPack : 0;
  const int64_t threads = packs + (n - packs * kPack);
  relu_kernel<<<grid_for(threads), kBlock, 0, stream>>>(x, y, packs, n);
  CUDA_CHECK(cudaGetLastError());
}
