// finds: race, block (0,0,0), says no fence.proxy.async
//
// A part of the tile is stored by threads, and no fence hands that to wgmma.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint64_t descriptor(const void* tile) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  return (at & 0x3ffff) >> 4 | uint64_t{128 >> 4} << 16 |
         uint64_t{256 >> 4} << 32;
}

// Adds the product of the tile and of its first eight rows.
__device__ void multiply(float (&d)[4], uint64_t tile) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%0, %1, %2, %3}, %4, %4, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(tile));  // <- here
}

__global__ void square_kernel(const uint4* x, float4* y) {
  __shared__ alignas(128) uint4 tile[128];
  const int i = threadIdx.x;
  if (i < 64)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(&tile[i]))),
                 "l"(x + i)
                 : "memory");
  else
    tile[i] = x[i];  // <- other
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  multiply(d, descriptor(tile));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  y[i] = make_float4(d[0], d[1], d[2], d[3]);
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
