// finds: race, block (0,0,0), says may still read it
//
// The tile is given back before the product has been waited for.
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
      : "l"(tile));  // <- other
}

__device__ unsigned address_of(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void load(uint4* tile, const uint4* x, uint64_t* bar) {
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 2048;" ::
          "r"(address_of(bar))
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1], 2048, [%2];" ::"r"(address_of(tile)),
      "l"(x), "r"(address_of(bar))  // <- here
      : "memory");
}

__device__ void wait(uint64_t* bar, int parity) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(address_of(bar)), "r"(parity)
        : "memory");
}

__global__ void square_kernel(const uint4* x, float4* y) {
  __shared__ alignas(128) uint4 tile[128];
  __shared__ uint64_t full, empty;
  const int i = threadIdx.x;
  if (i == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&full)));
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&empty)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (i == 128) {
    load(tile, x, &full);
    wait(&empty, 0);
    load(tile, x, &full);
  } else if (i < 128) {
    float d[4] = {};
    wait(&full, 0);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply(d, descriptor(tile));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (i == 0)
      asm volatile(
          "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&empty))
          : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    wait(&full, 1);
    y[i] = make_float4(d[0], d[1], d[2], d[3]);
  }
}

int main() {
  const int n = 160;
  uint4* x = nullptr;
  float4* y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  square_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
