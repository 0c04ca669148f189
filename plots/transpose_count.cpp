// Which calls of transpose are counted, whichever file defines it.
#include <bit>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/transpose.h"

std::vector<Case> counted_cases() {
  return {{.n = 1 << 20}, {.n = 1 << 20, .offset = 1}};
}

// n elements in as many rows as columns, or half as many.
void counted_call(const Case& one) {
  const int64_t rows = int64_t{1} << (std::bit_width(uint64_t(one.n)) - 1) / 2;
  const std::vector<float> host(one.n + one.offset, 1.f);
  const DeviceArray<float> x(host), y(one.n + one.offset);
  transpose(x.data() + one.offset, y.data() + one.offset, rows, one.n / rows,
            nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
