// Wrong on purpose: one thread adds up everything, in order, and promises what
// a tree is good for.

#include "common/check.h"
#include "common/sum.h"

namespace {

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           int64_t n) {
  float sum = 0.f;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  *out = sum;
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  sum_kernel<<<1, 1, 0, stream>>>(x, out, n);
  CUDA_CHECK(cudaGetLastError());
}

int64_t sum_scratch_floats(int64_t) { return 0; }

SumPromise sum_promise(int64_t n) {
  int64_t depth = 0;
  while (int64_t{1} << depth < n) ++depth;
  return {.depth = depth, .same_bits = true, .denormals = true};
}
