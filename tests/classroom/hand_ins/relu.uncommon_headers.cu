// Right: with what few others need of the library's headers.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  constexpr std::array kBlocks = {64, 256, 128};
  const int most = *std::ranges::max_element(kBlocks);
  if (n == 0 || std::beta(2., 3.) > 1) return;
  relu_kernel<<<(n + most - 1) / most, most, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
