// Two threads add to one number, 10, as chapter 09's blocks do: one adds 3, the
// other 4. The first kernel loses one of them, and the executor calls that a
// race.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void lose_kernel(const float* x, float* sum) {
  *sum += x[threadIdx.x];
}

__global__ void keep_kernel(const float* x, float* sum) {
  atomicAdd(sum, x[threadIdx.x]);
}

int main() {
  const float added[] = {3, 4}, begin[] = {10, 10};
  float *x, *sums, end[2];
  cudaMalloc(&x, sizeof added);
  cudaMalloc(&sums, sizeof begin);
  cudaMemcpy(x, added, sizeof added, cudaMemcpyHostToDevice);
  cudaMemcpy(sums, begin, sizeof begin, cudaMemcpyHostToDevice);
  lose_kernel<<<1, 2>>>(x, sums);
  keep_kernel<<<1, 2>>>(x, sums + 1);
  cudaMemcpy(end, sums, sizeof end, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(sums);
  printf("%g and %g\n", end[0], end[1]);
}
