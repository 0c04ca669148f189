// Wrong on purpose: packs begin after the head, and nobody takes the head.

#include "common/check.h"
#include "common/peel.h"
#include "common/relu.h"

namespace {

constexpr int kBlock = 256;

__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* x, float* y, Peeled at, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (first < at.packs) {
    Pack pack = reinterpret_cast<const Pack*>(x + at.head)[first];
    for (float& v : pack.v) v = rectify(v);
    reinterpret_cast<Pack*>(y + at.head)[first] = pack;
    return;
  }
  const int64_t i = at.head + at.packs * kPack + (first - at.packs);
  if (i < n) y[i] = rectify(x[i]);
}

bool is_as_far_off(const float* x, const float* y) {
  return (reinterpret_cast<uintptr_t>(x) - reinterpret_cast<uintptr_t>(y)) %
             sizeof(Pack) ==
         0;
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  const Peeled at = is_as_far_off(x, y) ? peel(x, n) : Peeled{0, 0};
  const int64_t threads = at.packs + (n - at.packs * kPack);
  const int64_t grid = (threads + kBlock - 1) / kBlock;
  relu_kernel<<<grid, kBlock, 0, stream>>>(x, y, at, n);
  CUDA_CHECK(cudaGetLastError());
}
