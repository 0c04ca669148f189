// finds: race, thread (0,0,0)
//
// Blocks add to a sum in turns. Each reads whose turn it is, but does not wait
// until it is its own: a load that acquires orders nothing by itself.
#include <cuda_runtime.h>

#include <cuda/atomic>

using Turn = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void add_in_turns(float* sum, int* turn) {
  Turn(*turn).load(cuda::std::memory_order_acquire);
  *sum += 0.1f;  // <- here
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
