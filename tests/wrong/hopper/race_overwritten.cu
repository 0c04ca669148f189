// finds: race, block (0,0,0), says overwrites an accumulator
//
// An accumulator is set before its product is there.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint64_t descriptor(const void* tile) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  return (at & 0x3ffff) >> 4 | uint64_t{128 >> 4} << 16 |
         uint64_t{256 >> 4} << 32;
}

__global__ void square_kernel(const uint4* x, float4* y) {
  __shared__ alignas(128) uint4 tile[128];
  const int i = threadIdx.x;
  tile[i] = x[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float4 d;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .f32 d<4>;\n"
      "setp.ne.u32 p, 0, 0;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{d0, d1, d2, d3}, %4, %4, p, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n"
      "mov.f32 d0, 0f3F800000;\n"
      "wgmma.wait_group.sync.aligned 0;\n"
      "mov.f32 %0, d0; mov.f32 %1, d1; mov.f32 %2, d2; mov.f32 %3, d3;\n"
      "}"
      : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)
      : "l"(descriptor(tile))  // <- here
      : "memory");
  y[i] = d;
}

int main() {
  const int n = 128;
  uint4* x = nullptr;
  float4* y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  square_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
