// finds: nothing
//
// The kernel is launched in clusters, if only of one block each. The block
// waits for what was sent.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__global__ void __cluster_dims__(1, 1, 1) send_kernel() {
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
      "f"(1.f), "r"(shared_address(&bar))
      : "memory");
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(&bar))
        : "memory");
}

int main() {
  send_kernel<<<1, 32>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
