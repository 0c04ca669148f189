// finds: nothing
//
// The fence hands over what has been set up, also by a relaxed arrival.
#include <cuda_runtime.h>

#include <cstdint>

__device__ unsigned address_of(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void wait(uint64_t* bar) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(address_of(bar))
        : "memory");
}

// Both blocks come to the first one's mbarrier.
__global__ void __cluster_dims__(2, 1, 1) meet_kernel(int* out) {
  __shared__ uint64_t bar;
  if (threadIdx.x == 0)
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address_of(&bar))
        : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile(
      "barrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
  if (threadIdx.x == 0) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, 0;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address_of(&bar))
        : "memory");
    if (blockIdx.x == 0) wait(&bar);
  }
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  meet_kernel<<<2, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
