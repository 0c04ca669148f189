// A matrix is added to a turned one: read as it lies, and through a tile in
// shared memory. The loads of chapter 15 are drawn there from the first 32 rows
// and columns.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kSide = 32;

__global__ void direct_kernel(const float* x, const float* y, float* sum) {
  const int row = threadIdx.y, column = threadIdx.x;
  const float turned = y[column * kSide + row];
  sum[row * kSide + column] = x[row * kSide + column] + turned;
}

__global__ void tile_kernel(const float* x, const float* y, float* sum) {
  __shared__ float tile[kSide][kSide + 1];
  const int row = threadIdx.y, column = threadIdx.x;
  tile[row][column] = y[row * kSide + column];
  __syncthreads();
  sum[row * kSide + column] = x[row * kSide + column] + tile[column][row];
}

int main() {
  constexpr int kCount = kSide * kSide;
  static float numbers[kCount], found[2][kCount];
  for (int i = 0; i < kCount; ++i) numbers[i] = i;
  float *x, *y, *sum;
  cudaMalloc(&x, sizeof numbers);
  cudaMalloc(&y, sizeof numbers);
  cudaMalloc(&sum, sizeof found);
  cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaMemcpy(y, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  direct_kernel<<<1, dim3(kSide, kSide)>>>(x, y, sum);
  tile_kernel<<<1, dim3(kSide, kSide)>>>(x, y, sum + kCount);
  cudaMemcpy(found, sum, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(sum);

  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const float expected = numbers[i] + numbers[i % kSide * kSide + i / kSide];
    wrong += found[0][i] != expected || found[1][i] != expected;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
