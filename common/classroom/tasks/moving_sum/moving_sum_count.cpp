// Which calls of moving_sum are counted, whichever file defines it.
#include "common/check.h"
#include "common/classroom/tasks/moving_sum/moving_sum.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"

std::vector<Case> counted_cases() { return {{.n = 1 << 20}}; }

void counted_call(const Case& one) {
  const std::vector<float> host(one.n + one.offset, 1.f);
  const DeviceArray<float> x(host), y(one.n + one.offset);
  moving_sum(x.data() + one.offset, y.data() + one.offset, one.n, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
