// The order in which chapter 11 adds, done once more on the host: the same
// numbers in the same order give the same bits.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "chapters/11_sum_warp/sum.cu"

namespace {

// What 32 lanes, or 32 warps, come to by shuffles.
float joined(std::vector<float> sums) {
  for (int away = kLanes / 2; away > 0; away /= 2) {
    const std::vector<float> before = sums;
    for (int i = 0; i < kLanes; ++i) sums[i] = before[i] + before[i ^ away];
  }
  return sums[0];
}

float of_block(const std::vector<float>& threads) {
  std::vector<float> warps;
  for (auto first = threads.begin(); first != threads.end(); first += kLanes) {
    warps.push_back(joined({first, first + kLanes}));
  }
  return joined(warps);
}

float of_thread(const float* x, int64_t head, int64_t n, int64_t first,
                int64_t step) {
  const int64_t packs = (n - head) / kPack;
  float sums[kPack] = {};
  for (int64_t tile = first; tile < packs; tile += step) {
    for (int64_t i = tile; i < tile + kTile && i < packs; i += kBlock) {
      for (int j = 0; j < kPack; ++j) sums[j] += x[head + i * kPack + j];
    }
  }
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (first >= n - packs * kPack) return sum;
  return sum + x[first < head ? first : first + packs * kPack];
}

float on_the_host(const float* x, int64_t head, int64_t n) {
  const int64_t blocks = blocks_for((n - head) / kPack);
  std::vector<float> words;
  for (int64_t b = 0; b < blocks; ++b) {
    std::vector<float> threads(kBlock);
    for (int t = 0; t < kBlock; ++t) {
      threads[t] = of_thread(x, head, n, b * kTile + t, blocks * kTile);
      if (b == blocks - 1 && t < b) threads[t] += words[t];
    }
    words.push_back(of_block(threads));
  }
  return words.back();
}

}  // namespace

int main() {
  std::mt19937 random(11);
  for (const int64_t n : {1, 31, 1000, 16'391, 100'003, 2'500'001}) {
    for (const int64_t offset : {0, 1}) {
      std::vector<float> x(offset + n);
      for (float& v : x) v = static_cast<float>(random()) * 0x1p-20f - 1000.f;
      float *device = nullptr, *out = nullptr, *scratch = nullptr, got = 0.f;
      const int64_t lent = sum_scratch_floats(n) * sizeof(float);
      CUDA_CHECK(cudaMalloc(&device, x.size() * sizeof(float)));
      CUDA_CHECK(cudaMalloc(&out, sizeof(float)));
      CUDA_CHECK(cudaMalloc(&scratch, lent));
      CUDA_CHECK(cudaMemset(scratch, 0, lent));
      CUDA_CHECK(cudaMemcpy(device, x.data(), x.size() * sizeof(float),
                            cudaMemcpyHostToDevice));
      sum(device + offset, out, n, scratch, cudaStreamPerThread);
      CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      CUDA_CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
      CUDA_CHECK(cudaFree(device));
      CUDA_CHECK(cudaFree(out));
      CUDA_CHECK(cudaFree(scratch));

      const int64_t head = std::min(n, (kPack - offset) % kPack);
      const float expected = on_the_host(x.data() + offset, head, n);
      const bool same = std::memcmp(&got, &expected, sizeof got) == 0;
      std::printf("%lld from %lld: %s bits\n", static_cast<long long>(n),
                  static_cast<long long>(offset), same ? "the same" : "other");
    }
  }
}
