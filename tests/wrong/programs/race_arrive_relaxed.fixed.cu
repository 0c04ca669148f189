// finds: nothing
//
// A fence in front of a relaxed arrival: the barrier hands over what it covers.
#include <cuda_runtime.h>

__device__ unsigned address_of(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Each thread gets the number of its neighbour in the other block.
__global__ void __cluster_dims__(2, 1, 1) swap_kernel(int* out) {
  __shared__ int got[64];
  // Nobody stores into a block that has not begun.
  asm volatile(
      "barrier.cluster.arrive.aligned;\n"
      "barrier.cluster.wait.aligned;" ::
          : "memory");
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "st.shared::cluster.b32 [there], %2;\n"
      "}" ::"r"(address_of(&got[threadIdx.x])),
      "r"(1 - blockIdx.x), "r"(threadIdx.x)
      : "memory");
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile(
      "barrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
  out[blockIdx.x * 64 + threadIdx.x] = got[threadIdx.x];
  // Nor into one that has ended.
  asm volatile(
      "barrier.cluster.arrive.aligned;\n"
      "barrier.cluster.wait.aligned;" ::
          : "memory");
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  swap_kernel<<<2, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
