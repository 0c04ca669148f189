// finds: nothing
//
// A block waits for its turn. The load that acquires may come once that is
// known, and what it brings need not be looked at again.
#include <cuda_runtime.h>

#include <cuda/atomic>

using Turn = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void add_in_turns(float* sum, int* turn) {
  while (Turn(*turn).load(cuda::std::memory_order_relaxed) != blockIdx.x) {
  }
  Turn(*turn).load(cuda::std::memory_order_acquire);
  *sum += 0.1f;
  Turn(*turn).store(blockIdx.x + 1, cuda::std::memory_order_release);
}

int main() {
  float* sum = nullptr;
  int* turn = nullptr;
  cudaMalloc(&sum, sizeof *sum);
  cudaMalloc(&turn, sizeof *turn);
  cudaMemset(sum, 0, sizeof *sum);
  cudaMemset(turn, 0, sizeof *turn);
  add_in_turns<<<4, 1>>>(sum, turn);
  return cudaDeviceSynchronize() != cudaSuccess;
}
