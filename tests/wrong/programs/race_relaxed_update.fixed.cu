// finds: nothing
//
// One block at a time: who has the lock may load, and store later.
#include <cuda_runtime.h>

#include <cuda/atomic>

using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void add_kernel(const int* x, int* sum, int* lock) {
  Word all(*sum), taken(*lock);
  while (taken.exchange(1, cuda::memory_order_acquire) == 1) {
  }
  const int old = all.load(cuda::memory_order_relaxed);
  all.store(old + x[blockIdx.x], cuda::memory_order_relaxed);
  taken.store(0, cuda::memory_order_release);
}

int main() {
  int *x = nullptr, *sum = nullptr, *lock = nullptr;
  cudaMalloc(&x, 8 * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  cudaMalloc(&lock, sizeof *lock);
  cudaMemset(x, 1, 8 * sizeof *x);
  cudaMemset(sum, 0, sizeof *sum);
  cudaMemset(lock, 0, sizeof *lock);
  add_kernel<<<8, 1>>>(x, sum, lock);
  return cudaDeviceSynchronize() != cudaSuccess;
}
