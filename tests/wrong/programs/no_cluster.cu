// finds: no cluster, block (0,0,0), thread (0,0,0), says without clusters
//
// A thread sends to shared memory of its cluster, and the kernel is launched
// without any.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void send_kernel() {
  __shared__ float value;
  __shared__ uint64_t bar;
  if (threadIdx.x != 0) return;
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar))
      : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" ::"r"(
                   shared_address(&bar))
               : "memory");
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, "
      "[%2];" ::"r"(shared_address(&value)),
      "f"(1.f), "r"(shared_address(&bar))  // <- here
      : "memory");
}

int main() {
  send_kernel<<<1, 32>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
