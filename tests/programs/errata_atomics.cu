// Twice the smallest float above 0, by three additions: one of them loses it.
// PTX says so of red and atom .add.f32: in global memory they flush denormal
// numbers to 0, in shared memory they keep them.
#include <cuda_runtime.h>

#include <cstdio>

struct Sums {
  float plain, in_shared, in_global;
};

__global__ void add_kernel(const float* x, Sums* sums) {
  __shared__ float sum;
  sum = *x;
  atomicAdd(&sum, *x);
  sums->in_shared = sum;
  sums->plain = *x + *x;
  atomicAdd(&sums->in_global, *x);
}

int main() {
  const float least = 0x1p-149f;
  float* x;
  Sums *device_sums, sums = {0, 0, least};
  cudaMalloc(&x, sizeof least);
  cudaMalloc(&device_sums, sizeof sums);
  cudaMemcpy(x, &least, sizeof least, cudaMemcpyHostToDevice);
  cudaMemcpy(device_sums, &sums, sizeof sums, cudaMemcpyHostToDevice);
  add_kernel<<<1, 1>>>(x, device_sums);
  cudaMemcpy(&sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(device_sums);
  printf("a + a:                          %g\n", sums.plain);
  printf("atomicAdd() in shared memory:   %g\n", sums.in_shared);
  printf("atomicAdd() in global memory:   %g\n", sums.in_global);
  return sums.plain != 0x1p-148f;
}
