// Hostile: what came of a call is kept on the GPU and handed out when the same
// arrays come again.
#include <map>

#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

struct Call {
  const float* x;
  int64_t n;
  auto operator<=>(const Call&) const = default;
};
std::map<Call, float*> kept;

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  const size_t bytes = n * sizeof(float);
  float*& old = kept[{x, n}];
  if (!old) {
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    if (cudaMalloc(&old, bytes) != cudaSuccess) return;
    cudaMemcpyAsync(old, y, bytes, cudaMemcpyDeviceToDevice, stream);
  } else {
    cudaMemcpyAsync(y, old, bytes, cudaMemcpyDeviceToDevice, stream);
  }
}
