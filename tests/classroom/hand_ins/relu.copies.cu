// Wrong: negative numbers stay what they are.
#include "common/check.h"
#include "common/relu.h"

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
}
