// Two kernels: one with bank conflicts and scattered loads, one with a race.
#include <cstdio>
__global__ void strided_kernel(const float* x, float* y) {
  __shared__ float tile[1024];
  tile[32 * threadIdx.x] = x[8 * threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[32 * threadIdx.x];
}
__global__ void a_kernel_with_quite_a_long_name(float* y) { *y = threadIdx.x; }
int main() {
  float *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  cudaMemset(x, 0, 1024);
  for (int k = 0; k < 2; ++k) {
    strided_kernel<<<1, 32>>>(x, y);
    a_kernel_with_quite_a_long_name<<<1, 32>>>(y);
  }
  std::printf("done");
  return cudaDeviceSynchronize();
}
