// finds: race
//
// A block repeats until nothing changes. Thread 0 takes the flag back for the
// next round while others may still have to look at it: they leave the loop.
#include <cuda_runtime.h>

__global__ void count_up(int* x) {
  __shared__ bool changed;
  const int t = threadIdx.x;
  do {
    if (t == 0) changed = false;  // <- here
    __syncthreads();
    if (x[t] < t) {
      ++x[t];
      changed = true;
    }
    __syncthreads();
  } while (changed);  // <- other
}

int main() {
  int* x = nullptr;
  cudaMalloc(&x, 128 * sizeof *x);
  cudaMemset(x, 0, 128 * sizeof *x);
  count_up<<<1, 128>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
