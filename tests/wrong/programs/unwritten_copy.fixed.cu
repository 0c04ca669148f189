// finds: nothing
//
// Rounded up. Rows of a pitch have gaps that nobody copies, structs have some
// that nobody wants, and here only the results that there are go to the host.
#include <cuda_runtime.h>

struct Found {
  double value;
  int number;  // Four bytes of padding follow.
};

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void rows(float* y, size_t pitch) {
  y[blockIdx.x * pitch / sizeof *y + threadIdx.x] = 1;
}

__global__ void find(const float* x, Found* found, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] != 0) return;
  Found& mine = found[atomicAdd(count, 1)];
  mine.value = x[i];
  mine.number = i;
}

int main() {
  const int n = 1000, block = 256, height = 5, width = 100;
  float host[n] = {1}, *x = nullptr, *y = nullptr, *image = nullptr;
  Found* found = nullptr;
  int* count = nullptr;
  size_t pitch = 0;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&found, 2 * n * sizeof *found);
  cudaMalloc(&count, sizeof *count);
  cudaMallocPitch(&image, &pitch, width * sizeof *image, height);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof *count);
  const int grid = (n + block - 1) / block;
  twice<<<grid, block>>>(x, y, n);
  rows<<<height, width>>>(image, pitch);
  find<<<grid, block>>>(x, found, count, n);
  int found_by_all = 0;
  static Found all[2 * n];
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy2D(host, width * sizeof *host, image, pitch, width * sizeof *image,
               height, cudaMemcpyDeviceToHost);
  cudaMemcpy(&found_by_all, count, sizeof *count, cudaMemcpyDeviceToHost);
  cudaMemcpy(all, found, found_by_all * sizeof *all, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize() != cudaSuccess || found_by_all != n - 1;
}
