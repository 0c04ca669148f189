// Where arrays lie in shared memory: one after the other, each where its type
// may begin, not where a wider access could. Those of the file are in its
// order; a kernel of this file alone has its own behind them, any other before
// them.

#include <algorithm>

#include "tests/simt/expect.h"

__shared__ float few[5];
__shared__ float many[64];
__shared__ double last[2];

__device__ unsigned place(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// They are used in another order. Each kernel has its own of this.
template <int kKernel>
__device__ __forceinline__ void layout(unsigned* out) {
  __shared__ float own[3];
  __shared__ char letter;
  __shared__ short number[3];
  last[threadIdx.x] = many[threadIdx.x] = few[threadIdx.x] = out[0];
  own[threadIdx.x] = number[threadIdx.x] = letter = out[1];
  const void* const all[] = {own, &letter, number, few, many, last};
  for (int k = 0; k < 6; ++k) out[k] = place(all[k]);
}

__global__ void visible_kernel(unsigned* out) { layout<1>(out); }

namespace {

__global__ void hidden_kernel(unsigned* out) { layout<2>(out); }

// A kernel that uses only one of the file's.
__global__ void alone_kernel(unsigned* out) {
  extern __shared__ float dynamic[];
  last[threadIdx.x] = dynamic[threadIdx.x] = out[0];
  out[0] = place(dynamic) - place(last);
}

template <class Kernel>
void check(Kernel kernel, const std::vector<unsigned>& expected) {
  auto got = expect::results<unsigned>(
      6, [&](unsigned* out) { kernel<<<1, 1>>>(out); });
  const unsigned first = *std::min_element(got.begin(), got.end());
  for (size_t k = 0; k < got.size(); ++k)
    expect::equal(got[k] - first, expected[k]);
}

}  // namespace

int main() {
  check(visible_kernel, {0, 12, 14, 20, 40, 296});
  check(hidden_kernel, {296, 308, 310, 0, 20, 280});
  const auto alone = expect::results<unsigned>(
      1, [](unsigned* out) { alone_kernel<<<1, 1, 64>>>(out); });
  expect::equal(alone[0], 16);
  return expect::report();
}
