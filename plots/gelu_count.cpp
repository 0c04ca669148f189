// Which calls of GELU are counted: whichever gelu() it is linked with.
#include <random>
#include <vector>

#include "common/check.h"
#include "common/gelu.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"

std::vector<Case> counted_cases() {
  return {{.n = 1 << 20}, {.n = 1 << 20, .offset = 1}};
}

void counted_call(const Case& one) {
  std::vector<__half> host(one.n + one.offset);
  std::mt19937 bits(2026);
  std::normal_distribution<float> random(0.f, 2.f);
  for (__half& v : host) v = __float2half_rn(random(bits));

  const DeviceArray<__half> x(host), y(one.n + one.offset);
  gelu(x.data() + one.offset, y.data() + one.offset, one.n, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
