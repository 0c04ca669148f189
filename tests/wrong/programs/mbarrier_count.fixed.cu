// finds: nothing
//
// It is for those that come.
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

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ uint64_t bar;
  const int i = threadIdx.x;
  if (i == 0)
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&bar)),
        "r"(64));
  __syncthreads();
  tile[i] = x[i];
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&bar))
               : "memory");
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
