// The tree of chapter 12's sums, done once more on the host: the same bits in
// any batch, at any address.
#include <bit>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "chapters/12_reduce/tree.h"

namespace {

// A tree over `width` numbers, a power of two; behind the first n there are
// zeros.
float on_the_host(const float* x, int64_t n, int64_t width) {
  if (n <= 0) return 0.f;
  if (width == 1) return *x;
  return on_the_host(x, std::min(n, width / 2), width / 2) +
         on_the_host(x + width / 2, n - width / 2, width / 2);
}

std::vector<float> on_the_device(const std::vector<float>& x, int64_t offset,
                                 int64_t rows, int64_t n) {
  const int64_t lent = tree::tree_scratch(rows, n);
  float *device = nullptr, *out = nullptr, *scratch = nullptr;
  CUDA_CHECK(cudaMalloc(&device, (offset + rows * n) * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&out, rows * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&scratch, std::max<int64_t>(1, lent) * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(device + offset, x.data(), rows * n * sizeof(float),
                        cudaMemcpyHostToDevice));
  tree::tree_sums(device + offset, out, rows, n, scratch, cudaStreamPerThread);
  std::vector<float> got(rows);
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CUDA_CHECK(cudaMemcpy(got.data(), out, rows * sizeof(float),
                        cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device));
  CUDA_CHECK(cudaFree(out));
  CUDA_CHECK(cudaFree(scratch));
  return got;
}

}  // namespace

int main() {
  std::mt19937 random(12);
  for (const int64_t n : {1, 5, 1000, 1024, 1025, 16'391, 1'100'003}) {
    for (const int64_t rows : {1, 2, 7}) {
      if (rows * n > 1 << 21) continue;
      std::vector<float> x(rows * n);
      for (float& v : x) v = static_cast<float>(random()) * 0x1p-20f - 1000.f;
      int64_t same = 0;
      for (const int64_t offset : {0, 1, 2, 3}) {
        const std::vector<float> got = on_the_device(x, offset, rows, n);
        for (int64_t r = 0; r < rows; ++r) {
          const float expected =
              on_the_host(&x[r * n], n, std::bit_ceil(uint64_t(n)));
          same += std::memcmp(&got[r], &expected, sizeof expected) == 0;
        }
      }
      std::printf(
          "%lld rows of %lld numbers at 4 addresses: %lld of %lld have "
          "the host's bits\n",
          static_cast<long long>(rows), static_cast<long long>(n),
          static_cast<long long>(same), static_cast<long long>(4 * rows));
    }
  }
  return 0;
}
