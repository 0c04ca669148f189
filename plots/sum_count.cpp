// Which calls of sum are counted: whichever sum() it is linked with.
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/sum.h"

// The first is one tile of chapters 06 to 09, and what the lecture adds up.
std::vector<Case> counted_cases() { return {{.n = 2048}, {.n = 1 << 20}}; }

void counted_call(const Case& one) {
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random()) * 0x1p-31f - 1.f;

  const DeviceArray<float> x(host), out(1);
  const DeviceArray<float> scratch(
      std::vector<float>(sum_scratch_floats(one.n)));
  sum(x.data() + one.offset, out.data(), one.n, scratch.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
