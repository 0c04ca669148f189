// Who sends what when: an all-reduce of four ranks around a ring, and another
// along a tree. In the end every rank has the sum of all four vectors.
//
// A message is a copy from device to device and, where it is to be added, a
// kernel of the rank that got it. Where devices are fewer than ranks, ranks
// share them.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/check.h"

namespace {

constexpr int kRanks = 4;
constexpr int kParts = kRanks;  // Of a vector.
constexpr int kPart = 256;      // Floats in one.

__global__ void add_kernel(float* x, const float* came, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += came[i];
}

struct Rank {
  int device;
  float *x, *came;  // Its vector, and what another has sent.
};

struct Message {
  int from, to;
  int first, parts;  // Of the vector.
  bool adds;         // Or else it replaces what is there.
};

using Step = std::vector<Message>;  // Messages that travel at the same time.

std::vector<Rank> ranks() {
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  std::vector<Rank> all;
  for (int r = 0; r < kRanks; ++r) {
    Rank rank = {r % devices, nullptr, nullptr};
    CUDA_CHECK(cudaSetDevice(rank.device));
    CUDA_CHECK(cudaMalloc(&rank.x, kParts * kPart * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&rank.came, kParts * kPart * sizeof(float)));
    all.push_back(rank);
  }
  return all;
}

// Rank r's numbers are r + 1.
void fill(const std::vector<Rank>& all) {
  for (int r = 0; r < kRanks; ++r) {
    const std::vector<float> numbers(kParts * kPart, r + 1.f);
    CUDA_CHECK(cudaMemcpy(all[r].x, numbers.data(),
                          numbers.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
  }
}

void finish(const std::vector<Rank>& all) {
  for (const Rank& rank : all) {
    CUDA_CHECK(cudaSetDevice(rank.device));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void send(const Rank& from, const Rank& to, const Message& m) {
  const int begin = m.first * kPart, n = m.parts * kPart;
  float* const there = m.adds ? to.came + begin : to.x + begin;
  CUDA_CHECK(cudaMemcpyPeer(there, to.device, from.x + begin, from.device,
                            n * sizeof(float)));
}

void add(const Rank& to, const Message& m) {
  const int begin = m.first * kPart, n = m.parts * kPart;
  CUDA_CHECK(cudaSetDevice(to.device));
  add_kernel<<<(n + 255) / 256, 256>>>(to.x + begin, to.came + begin, n);
  CUDA_CHECK(cudaGetLastError());
}

// All messages of a step are sent before one of them is added.
void run(const char* name, const std::vector<Step>& steps) {
  const std::vector<Rank> all = ranks();
  fill(all);
  for (size_t s = 0; s < steps.size(); ++s) {
    std::printf("%s, step %zu:", name, s + 1);
    for (const Message& m : steps[s]) {
      send(all[m.from], all[m.to], m);
      std::printf(" %d-%s->%d:%d..%d", m.from, m.adds ? "adds" : "gives", m.to,
                  m.first, m.first + m.parts - 1);
    }
    std::printf("\n");
    finish(all);
    for (const Message& m : steps[s])
      if (m.adds) add(all[m.to], m);
    finish(all);
  }
  for (const Rank& rank : all) {
    std::vector<float> got(kParts * kPart);
    CUDA_CHECK(cudaMemcpy(got.data(), rank.x, got.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    for (const float v : got) {
      if (v == kRanks * (kRanks + 1) / 2) continue;
      std::printf("A rank has %g.\n", v);
      std::exit(EXIT_FAILURE);
    }
    CUDA_CHECK(cudaFree(rank.x));
    CUDA_CHECK(cudaFree(rank.came));
  }
}

// Each part goes around once to be added up, and once more to be handed out.
std::vector<Step> ring() {
  std::vector<Step> steps;
  for (int s = 0; s < 2 * (kRanks - 1); ++s) {
    Step step;
    for (int r = 0; r < kRanks; ++r) {
      const int part = (r - s + 2 * kRanks) % kRanks;
      step.push_back({r, (r + 1) % kRanks, part, 1, s < kRanks - 1});
    }
    steps.push_back(step);
  }
  return steps;
}

// Whole vectors are added pair by pair, up to rank 0, and handed down again.
std::vector<Step> tree() {
  std::vector<Step> steps;
  for (int away = 1; away < kRanks; away *= 2) {
    Step step;
    for (int r = 0; r < kRanks; r += 2 * away)
      step.push_back({r + away, r, 0, kParts, true});
    steps.push_back(step);
  }
  for (int away = kRanks / 2; away > 0; away /= 2) {
    Step step;
    for (int r = 0; r < kRanks; r += 2 * away)
      step.push_back({r, r + away, 0, kParts, false});
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

int main() {
  setenv("SIMT_DEVICES", "4", /*overwrite=*/0);  // Without GPUs.
  run("ring", ring());
  run("tree", tree());
  return 0;
}
