// finds: nothing
//
// Both flags are set by a release: whoever has seen one of them may read what
// lies in front of both.
#include <cuda_runtime.h>

#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void hand_over_kernel(float* value, int* flags) {
  if (blockIdx.x == 0) {
    *value = 42;
    Flag(flags[0]).store(1, cuda::std::memory_order_release);
    Flag(flags[1]).store(1, cuda::std::memory_order_release);
  } else {
    while (Flag(flags[1]).load(cuda::std::memory_order_acquire) == 0) {
    }
    value[1] = *value;
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
