// Right: two streams work side by side and meet again, by events.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n < 2) return relu_kernel<<<1, 1, 0, stream>>>(x, y, n);
  const int64_t half = n / 2;
  cudaStream_t other;
  cudaEvent_t forked, joined;
  CUDA_CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(forked, stream));
  CUDA_CHECK(cudaStreamWaitEvent(other, forked));
  relu_kernel<<<(half + 255) / 256, 256, 0, stream>>>(x, y, half);
  relu_kernel<<<(n - half + 255) / 256, 256, 0, other>>>(x + half, y + half,
                                                         n - half);
  CUDA_CHECK(cudaEventRecord(joined, other));
  CUDA_CHECK(cudaStreamWaitEvent(stream, joined));
  CUDA_CHECK(cudaEventDestroy(forked));
  CUDA_CHECK(cudaEventDestroy(joined));
  CUDA_CHECK(cudaStreamDestroy(other));
}
