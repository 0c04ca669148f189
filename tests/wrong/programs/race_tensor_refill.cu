// finds: race, block (0,0,0), says read by cp.async.bulk.tensor
//
// The box is written anew while the copy may still read it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void fill_kernel(const __grid_constant__ CUtensorMap y) {
  __shared__ alignas(128) float tile[64];
  const int i = threadIdx.x;
  tile[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (i == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
        "[%0, {0, 0}], [%1];" ::"l"(&y),
        "r"(shared_address(tile))  // <- other
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  __syncthreads();
  tile[i] = 2 * i;  // <- here
  if (i == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
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
  float* y = nullptr;
  cudaMalloc(&y, 64 * sizeof *y);
  fill_kernel<<<1, 64>>>(map_of(y));
  return cudaDeviceSynchronize() != cudaSuccess;
}
