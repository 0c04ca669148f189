// Which calls of argmax are counted: whichever argmax() it is linked with.
#include <random>

#include "common/check.h"
#include "common/classroom/tasks/argmax/argmax.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"

std::vector<Case> counted_cases() { return {{.n = 1 << 20}}; }

void counted_call(const Case& one) {
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random());

  const DeviceArray<float> x(host);
  const DeviceArray<int64_t> out(1), scratch(argmax_scratch_words(one.n));
  argmax(x.data() + one.offset, out.data(), one.n, scratch.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
