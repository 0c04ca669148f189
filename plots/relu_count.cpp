// Which calls of ReLU are counted: whichever relu() it is linked with.
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/relu.h"

std::vector<Case> counted_cases() {
  return {{.n = 1 << 20}, {.n = 1 << 20, .offset = 1}};
}

void counted_call(const Case& one) {
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random()) * 0x1p-31f - 1.f;

  const DeviceArray<float> x(host), y(one.n + one.offset);
  relu(x.data() + one.offset, y.data() + one.offset, one.n, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
