// Chapter 15: a GELU by the strided engine.
//
// New:   the functor takes one half and knows nothing of packs; the engine
//        brings it eight at a time.
// Why:   whoever adds a function writes one formula, for arrays of any kind.
// Price: each half is computed by itself; chapter 04 rounds a pair at once.

#include <cstdio>
#include <cstdlib>

#include "chapters/15_strides_and_casts/gpu_kernel.h"
#include "common/gelu.h"

namespace {

constexpr float kTwoSlopes = 1.5957691f;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715f;
constexpr float kLeast = -16.f;  // Below it, a GELU is 0; a NaN is not below.

// Of a half, the quick division is exact enough.
struct Gelu {
  __device__ __half operator()(__half element) const {
    const float given = __half2float(element);
    const float x = given < kLeast ? kLeast : given;
    const float u = kTwoSlopes * (x + kCubic * x * x * x);
    return __float2half_rn(__fdividef(x, 1.f + __expf(-u)));
  }
};

strided::Array halves(const __half* data, int64_t n) {
  return {reinterpret_cast<uintptr_t>(data), strided::Type::kHalf, {n}, {1}};
}

}  // namespace

void gelu(const __half* x, __half* y, int64_t n, cudaStream_t stream) {
  const strided::Error error =
      strided::gpu_kernel(Gelu{}, stream, halves(y, n), halves(x, n));
  if (!error) return;
  std::fprintf(stderr, "gelu: %s\n", error);
  std::exit(EXIT_FAILURE);
}

int gelu_ulps() { return 1; }
