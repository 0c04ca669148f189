// Which calls of ReLU with a mask are counted, whichever file defines it.
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/relu_mask.h"

std::vector<Case> counted_cases() {
  return {{.n = 1 << 20}, {.n = 1 << 20, .offset = 1}};
}

// Forward, then backward: two launches.
void counted_call(const Case& one) {
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random()) * 0x1p-31f - 1.f;

  const DeviceArray<float> x(host), y(one.n + one.offset);
  const DeviceArray<uint32_t> mask(mask_words(one.n));
  relu_mask(x.data() + one.offset, y.data() + one.offset, mask.data(), one.n,
            nullptr);
  const DeviceArray<float> dy(host), dx(one.n + one.offset);
  relu_mask_backward(dy.data() + one.offset, mask.data(),
                     dx.data() + one.offset, one.n, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
