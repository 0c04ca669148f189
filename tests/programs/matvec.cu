// A matrix times a vector: one block per row, a tree in dynamic shared memory.
#include <cuda.h>

#include <cstdio>
#include <vector>

__global__ void matvec(const double* a, const double* x, double* y,
                       int columns) {
  extern __shared__ double partial[];
  double sum = 0;
  const double* row = a + (size_t)blockIdx.x * columns;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += row[j] * x[j];
  partial[threadIdx.x] = sum;
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

int main() {
  const int rows = 60, columns = 201;
  std::vector<double> a(rows * columns), x(columns), y(rows);
  for (size_t i = 0; i < a.size(); ++i) a[i] = (double)(i % 17) / 4;
  for (int j = 0; j < columns; ++j) x[j] = j - 100;
  double *da, *dx, *dy;
  cudaMalloc(&da, a.size() * sizeof(double));
  cudaMalloc(&dx, x.size() * sizeof(double));
  cudaMalloc(&dy, y.size() * sizeof(double));
  cudaMemcpy(da, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice);
  matvec<<<rows, 64, 64 * sizeof(double)>>>(da, dx, dy, columns);
  cudaMemcpy(y.data(), dy, y.size() * sizeof(double), cudaMemcpyDeviceToHost);
  int wrong = 0;
  double sum = 0;
  for (int i = 0; i < rows; ++i) {
    double expected = 0;
    for (int j = 0; j < columns; ++j) expected += a[i * columns + j] * x[j];
    wrong += y[i] != expected;
    sum += y[i];
  }
  printf("sum of y: %.2f\n", sum);
  cudaFree(da);
  cudaFree(dx);
  cudaFree(dy);
  return wrong != 0;
}
