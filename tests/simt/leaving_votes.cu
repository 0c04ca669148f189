// Lanes leave a loop one after another, and those that stay vote with the mask
// of the round before. The compiler unrolls the loop: lanes vote together in
// several places, and those that have left wait for the warp behind the loop.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "tests/simt/expect.h"

namespace {

using namespace expect;

__global__ void vote_kernel(const int* rounds, int* sums) {
  int left = rounds[threadIdx.x], sum = 0;
  unsigned active = __ballot_sync(~0u, left > 0);
  while (left > 0) {
    sum += __popc(active);
    --left;
    active = __ballot_sync(active, left > 0);
  }
  __syncwarp();
  sums[threadIdx.x] = sum;
}

__global__ void shuffle_kernel(const int* rounds, int* sums) {
  int left = rounds[threadIdx.x], sum = 0;
  unsigned active = __ballot_sync(~0u, left > 0);
  if (left > 0) {
    do {
      sum += __shfl_sync(active, 1, __ffs(active) - 1);
      --left;
      const unsigned still = __ballot_sync(active, left > 0);
      if (left == 0) break;
      active = still;
    } while (true);
  }
  __syncwarp();
  sums[threadIdx.x] = sum;
}

// What each lane adds up if it counts `each(round)` for each of its rounds.
template <class Each>
std::vector<int> added_up(const std::vector<int>& rounds, Each each) {
  std::vector<int> sums(rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i)
    for (int round = 0; round < rounds[i]; ++round) sums[i] += each(round);
  return sums;
}

void check(void (*kernel)(const int*, int*), const std::vector<int>& rounds,
           const std::vector<int>& expected) {
  int* both = nullptr;
  ok(cudaMallocManaged(&both, 64 * sizeof(int)));
  for (int i = 0; i < 32; ++i) both[i] = rounds[i];
  kernel<<<1, 32>>>(both, both + 32);
  ok(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) equal(both[32 + i], expected[i]);
  ok(cudaFree(both));
}

}  // namespace

int main() {
  for (int step = 1; step < 40; step += 4) {
    std::vector<int> rounds(32);
    for (int i = 0; i < 32; ++i) rounds[i] = i * step % 41;
    const auto count = [&](int round) {
      int more = 0;
      for (int one : rounds) more += one > round;
      return more;
    };
    check(vote_kernel, rounds, added_up(rounds, count));
    check(shuffle_kernel, rounds, added_up(rounds, [](int) { return 1; }));
  }
  return report();
}
