// finds: nothing
//
// The barrier itself tells all threads whether any of them changed something.
#include <cuda_runtime.h>

__global__ void count_up(int* x) {
  const int t = threadIdx.x;
  bool changed;
  do {
    changed = x[t] < t;
    if (changed) ++x[t];
  } while (__syncthreads_or(changed));
}

int main() {
  int* x = nullptr;
  cudaMalloc(&x, 128 * sizeof *x);
  cudaMemset(x, 0, 128 * sizeof *x);
  count_up<<<1, 128>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
