// finds: race, block (1,0,0), thread (0,0,0)
//
// An acquire counts for the flag that it reads. What another flag announces may
// still be missing.
#include <cuda_runtime.h>

#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void hand_over_kernel(float* value, int* flags) {
  if (blockIdx.x == 0) {
    *value = 42;  // <- other
    Flag(flags[1]).store(1, cuda::std::memory_order_release);
  } else {
    while (Flag(flags[1]).load(cuda::std::memory_order_relaxed) == 0) {
    }
    Flag(flags[0]).load(cuda::std::memory_order_acquire);
    value[1] = *value;  // <- here
  }
}

int main() {
  float* value = nullptr;
  int* flags = nullptr;
  cudaMalloc(&value, 2 * sizeof *value);
  cudaMalloc(&flags, 2 * sizeof *flags);
  cudaMemset(flags, 0, 2 * sizeof *flags);
  hand_over_kernel<<<2, 1>>>(value, flags);
  return cudaDeviceSynchronize() != cudaSuccess;
}
