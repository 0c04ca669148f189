// finds: nothing
//
// A thread reads what others have sent, and has waited at the mbarrier that is
// told of it.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
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

__global__ void __cluster_dims__(1, 1, 1) reverse_kernel(float* y) {
  __shared__ float tile[64];
  __shared__ uint64_t bar;
  const int i = threadIdx.x;
  tile[i] = 0;
  if (i == 0) {
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar))
        : "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(
            shared_address(&bar))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, "
      "[%2];" ::"r"(shared_address(&tile[63 - i])),
      "f"(float(i)), "r"(shared_address(&bar))
      : "memory");
  wait(&bar);
  y[i] = tile[i];
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 64 * sizeof *y);
  reverse_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
