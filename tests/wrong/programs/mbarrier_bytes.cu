// finds: deadlock, says whose phase lacks 256 bytes
//
// Twice as many bytes are announced as the bulk copy brings.
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
        : "r"(shared_address(bar))  // <- here
        : "memory");
}

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ uint64_t bar;
  const unsigned bytes = 64 * sizeof(double);
  const int i = threadIdx.x;
  if (i == 0) {
    const unsigned at = shared_address(&bar);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::
            "r"(at),
        "r"(bytes)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], 256, [%2];" ::"r"(shared_address(tile)),
        "l"(x), "r"(at)
        : "memory");
  }
  __syncthreads();
  wait(&bar);
  y[i] = tile[63 - i];
}

int main() {
  const int n = 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  mirror_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
