// A peer: Thrust's transform, from the CUDA Toolkit.
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include "common/relu.h"

namespace {

struct Rectify {
  __device__ float operator()(float x) const { return x <= 0.f ? 0.f : x; }
};

}  // namespace

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  thrust::transform(thrust::cuda::par_nosync.on(stream), x, x + n, y,
                    Rectify{});
}
