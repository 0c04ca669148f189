// finds: nothing
//
// As race_turns.fixed.cu, but the counter is read by an atomic that adds
// nothing.
#include <cuda_runtime.h>

__device__ void meet(int* arrived, int all) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < all) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void turns_kernel(int* arrived, float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int turn = 0; turn < 3; ++turn) {
    x[i] = turn + i;
    meet(arrived, (2 * turn + 1) * gridDim.x);
    y[i] += x[n - 1 - i];
    meet(arrived, (2 * turn + 2) * gridDim.x);
  }
}

int main() {
  const int n = 256;
  int* arrived = nullptr;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&arrived, sizeof *arrived);
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(arrived, 0, sizeof *arrived);
  cudaMemset(y, 0, n * sizeof *y);
  turns_kernel<<<4, n / 4>>>(arrived, x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
