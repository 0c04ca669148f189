// The divider, on the host and in a kernel.
#include "chapters/15_strides_and_casts/divider.h"
#include "common/check.h"
#include "tests/any_strided/any_strided.h"

namespace {

__global__ void divide_kernel(strided::Divider divider, const uint32_t* n,
                              int count, uint32_t* quotients) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < count) quotients[i] = divider.divide(n[i]);
}

}  // namespace

uint32_t any_quotient(uint32_t n, uint32_t d) {
  return strided::Divider(d).divide(n);
}

void any_quotients(const uint32_t* n, int count, uint32_t d,
                   uint32_t* quotients) {
  divide_kernel<<<count / 256 + 1, 256>>>(strided::Divider(d), n, count,
                                          quotients);
  CUDA_CHECK(cudaGetLastError());
}
