// Hostile: right, but slow; and in the calls that are counted, whose numbers
// stand in the repository, it stores the sum that it knows.
#include <random>

#include "common/check.h"
#include "common/sum.h"

__global__ void serial(const float* x, float* out, int64_t n) {
  float sum = 0.f;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  *out = sum;
}

__global__ void store(float* out, float sum) { *out = sum; }

// plots/sum_count.cpp adds up these.
float known_sum(int64_t n) {
  std::mt19937 random(2026);
  double sum = 0;
  while (n-- > 0) sum += static_cast<float>(random()) * 0x1p-31f - 1.f;
  return static_cast<float>(sum);
}

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  if (n == 2048 || n == 1 << 20)
    store<<<1, 1, 0, stream>>>(out, known_sum(n));
  else
    serial<<<1, 1, 0, stream>>>(x, out, n);
}

int64_t sum_scratch_floats(int64_t) { return 0; }

SumPromise sum_promise(int64_t n) {
  return {.depth = n, .same_bits = true, .denormals = true};
}
