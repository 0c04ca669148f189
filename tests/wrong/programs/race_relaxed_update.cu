// finds: race, says let atomicAdd or its kin do both at once
//
// An atomic load and an atomic store are no atomic update: what another block
// stores in between is lost.
#include <cuda_runtime.h>

#include <cuda/atomic>

__global__ void add_kernel(const int* x, int* sum) {
  cuda::atomic_ref<int, cuda::thread_scope_device> all(*sum);
  const int old = all.load(cuda::memory_order_relaxed);
  all.store(old + x[blockIdx.x], cuda::memory_order_relaxed);  // <- here
}

int main() {
  int *x = nullptr, *sum = nullptr;
  cudaMalloc(&x, 8 * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(x, 1, 8 * sizeof *x);
  cudaMemset(sum, 0, sizeof *sum);
  add_kernel<<<8, 1>>>(x, sum);
  return cudaDeviceSynchronize() != cudaSuccess;
}
