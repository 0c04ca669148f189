// Which calls of bn_relu are counted, whichever file defines it.
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/count.h"
#include "common/harness/device_array.h"
#include "common/relu_mask.h"
#include "plots/bn_relu_shapes.h"

std::vector<Case> counted_cases() {
  return {{.n = 1 << 19}, {.n = 1 << 19, .offset = 1}};
}

// BatchNorm, addition and ReLU forward, then backward.
void counted_call(const Case& one) {
  const BnRelu what = images_of(one.n);
  std::vector<float> host(one.n + one.offset);
  std::mt19937 random(2026);
  for (float& v : host) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
  const std::vector<float> ones(what.channels, 1.f), zeros(what.channels);

  const DeviceArray<float> x(host), addend(host), y(std::ssize(host));
  const DeviceArray<float> gamma(ones), beta(zeros), running_mean(zeros),
      running_variance(ones), mean(what.channels), inverse(what.channels),
      d_gamma(what.channels), d_beta(what.channels);
  const DeviceArray<float> scratch(
      std::vector<float>(bn_relu_scratch_floats(what)));
  const DeviceArray<uint32_t> mask(mask_words(one.n));
  bn_relu(what,
          {x.data() + one.offset, addend.data() + one.offset, gamma.data(),
           beta.data(), running_mean.data(), running_variance.data(),
           mean.data(), inverse.data(), y.data() + one.offset, mask.data()},
          scratch.data(), nullptr);
  const DeviceArray<float> dy(host), dx(std::ssize(host)),
      d_addend(std::ssize(host));
  bn_relu_backward(
      what,
      {dy.data() + one.offset, mask.data(), x.data() + one.offset, gamma.data(),
       mean.data(), inverse.data(), dx.data() + one.offset,
       d_addend.data() + one.offset, d_gamma.data(), d_beta.data()},
      scratch.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
}
