// Wrong on purpose: the loop ends before a thread's last round.

#include <algorithm>

#include "common/check.h"
#include "common/relu.h"

namespace {

constexpr int kBlock = 256;
constexpr int kWaves = 32;  // A wave is every block the GPU can hold at once.

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* __restrict__ x, float* __restrict__ y,
                            int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;

  for (int64_t i = first; i + step < n; i += step) y[i] = rectify(x[i]);
}

// The blocks to launch for n items: one thread each, up to kWaves waves.
constexpr int64_t grid_blocks(int64_t n, int sms, int threads_per_sm) {
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  const int64_t wave = int64_t{sms} * threads_per_sm / kBlock;
  return std::clamp<int64_t>(blocks, 1, kWaves * wave);
}

int64_t grid_for(int64_t n) {
  int device, sms, threads_per_sm;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaDeviceGetAttribute(
      &threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return grid_blocks(n, sms, threads_per_sm);
}

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  relu_kernel<<<grid_for(n), kBlock, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
