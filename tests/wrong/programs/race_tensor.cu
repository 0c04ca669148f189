// finds: race, block (0,0,0), says copied by cp.async.bulk.tensor
//
// A barrier of the block does not wait for the copy of a tensor.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void wait(uint64_t* bar) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar))
        : "memory");
}

__global__ void mirror_kernel(const __grid_constant__ CUtensorMap x, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ uint64_t bar;
  const int i = threadIdx.x;
  if (i == 0) {
    const unsigned at = shared_address(&bar);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 256;" ::
            "r"(at)
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(
            shared_address(tile)),
        "l"(&x), "r"(at)  // <- other
        : "memory");
  }
  __syncthreads();
  y[i] = tile[63 - i];  // <- here
  wait(&bar);
}

CUtensorMap map_of(float* x) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                   cudaEnableDefault, &status);
  CUtensorMap map;
  const cuuint64_t size[] = {16, 4}, stride[] = {64};
  const cuuint32_t box[] = {16, 4}, step[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

int main() {
  const int n = 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  mirror_kernel<<<1, n>>>(map_of(x), y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
