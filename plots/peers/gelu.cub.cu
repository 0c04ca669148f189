// A peer: CUB's transform, from the CUDA Toolkit, with chapter 04's formula.
#include <cub/device/device_transform.cuh>

#include "common/check.h"
#include "common/gelu.h"

namespace {

// From -8 down the result is 0 in half; -infinity would come to inf / inf.
struct Gelu {
  __device__ __half operator()(__half half) const {
    float x = __half2float(half);
    if (x < -8.f) x = -8.f;
    const float twice_u = x * (1.5957691f + 0.07135481f * x * x);
    return __float2half_rn(__fdividef(x, 1.f + __expf(-twice_u)));
  }
};

}  // namespace

void gelu(const __half* x, __half* y, int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cub::DeviceTransform::Transform(x, y, n, Gelu{}, stream));
}

int gelu_ulps() { return 1; }
