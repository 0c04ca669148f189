// A peer: CUB's transform, from the CUDA Toolkit.
#include <cub/device/device_transform.cuh>

#include "common/check.h"
#include "common/relu.h"

namespace {

struct Rectify {
  __device__ float operator()(float x) const { return x <= 0.f ? 0.f : x; }
};

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cub::DeviceTransform::Transform(x, y, n, Rectify{}, stream));
}
