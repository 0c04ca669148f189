// The launch floor: a kernel that does nothing.
#include "common/harness/bench.h"

namespace {

__global__ void empty_kernel() {}

}  // namespace

void launch_empty_kernel(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  CUDA_CHECK(cudaGetLastError());
}
