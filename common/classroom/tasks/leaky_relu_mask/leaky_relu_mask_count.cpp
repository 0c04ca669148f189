// Which calls of leaky ReLU with a mask are counted, whichever file defines it.
#include <random>

#include "common/check.h"
#include "common/classroom/tasks/leaky_relu_mask/leaky_relu_mask.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"

std::vector<Case> counted_cases() { return {{.n = 1 << 20}}; }

// Forward, then backward.
void counted_call(const Case& one) {
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random()) * 0x1p-31f - 1.f;

  const DeviceArray<float> x(host), y(one.n + one.offset);
  const DeviceArray<uint32_t> mask((one.n + 31) / 32);
  leaky_relu_mask(x.data() + one.offset, y.data() + one.offset, mask.data(),
                  0.01f, one.n, nullptr);
  const DeviceArray<float> dy(host), dx(one.n + one.offset);
  leaky_relu_mask_backward(dy.data() + one.offset, mask.data(),
                           dx.data() + one.offset, 0.01f, one.n, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
