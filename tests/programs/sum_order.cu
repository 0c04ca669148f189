// The order in which chapter 11 adds, done once more on the host: the same
// numbers in the same order give the same bits.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "chapters/11_sum_warp/sum.cu"

namespace {

// What 32 lanes come to by shuffles.
float joined(std::vector<float> sums) {
  for (int away = kLanes / 2; away > 0; away /= 2) {
    const std::vector<float> before = sums;
    for (int i = 0; i < kLanes; ++i) sums[i] = before[i] + before[i ^ away];
  }
  return sums[0];
}

// Neighbours first, then neighbouring pairs, and so on.
float of_pairs(std::vector<float> sums) {
  for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
    for (size_t i = 0; i < sums.size() / 2; ++i) {
      sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
  }
  return sums[0];
}

float of_block(const std::vector<float>& threads) {
  std::vector<float> warps;
  for (auto first = threads.begin(); first != threads.end(); first += kLanes) {
    warps.push_back(joined({first, first + kLanes}));
  }
  return of_pairs(warps);
}

float of_thread(const float* x, int64_t head, int64_t n, int64_t first,
                int64_t block, int64_t step) {
  const int64_t packs = (n - head) / kPack;
  float sums[kPack] = {};
  for (int64_t tile = first; tile < packs; tile += step) {
    for (int j = 0; j < kPack; ++j) {
      float of_tile = 0.f;
      for (int64_t i = tile; i < packs && i < tile + kCoarse * block;
           i += block)
        of_tile += x[head + i * kPack + j];
      sums[j] += of_tile;
    }
  }
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (first >= n - packs * kPack) return sum;
  return sum + x[first < head ? first : first + packs * kPack];
}

float of_words(const std::vector<float>& words) {
  std::vector<float> lanes(kLanes);
  for (size_t i = 0; i < words.size(); ++i) lanes[i % kLanes] += words[i];
  return joined(lanes);
}

float on_the_host(const float* x, int64_t head, int64_t n) {
  const int64_t packs = (n - head) / kPack;
  const int64_t blocks = blocks_for(packs), block = block_for(packs);
  std::vector<float> words;
  for (int64_t b = 0; b < blocks; ++b) {
    std::vector<float> threads(block);
    for (int64_t t = 0; t < block; ++t) {
      const int64_t tile = kCoarse * block;
      threads[t] = of_thread(x, head, n, b * tile + t, block, blocks * tile);
    }
    words.push_back(of_block(threads));
  }
  const float last = words.back();
  words.pop_back();
  return words.empty() ? last : last + of_words(words);
}

}  // namespace

int main() {
  std::mt19937 random(11);
  for (const int64_t n : {1, 31, 1000, 16'391, 100'003, 2'500'001, 5'000'001}) {
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
