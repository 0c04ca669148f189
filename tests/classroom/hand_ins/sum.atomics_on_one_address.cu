// Slow for chapter 09: each warp adds to one word by itself, 32 times as often
// as a tile of 1,024 has to.
#include "common/check.h"
#include "common/sum.h"

constexpr int kBlock = 256;

__global__ void sum_kernel(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  float v = i < n ? x[i] : 0.f;
  for (int lane = 16; lane > 0; lane /= 2)
    v += __shfl_down_sync(0xffffffff, v, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  if (n > 0)
    sum_kernel<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(x, out, n);
}

int64_t sum_scratch_floats(int64_t) { return 0; }

SumPromise sum_promise(int64_t n) {
  return {.depth = 5 + (n + 31) / 32, .same_bits = false, .denormals = false};
}
