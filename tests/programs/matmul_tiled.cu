// Matrices multiplied tile by tile through shared memory; sizes that are no
// multiple of the tile.
#include <cuda.h>

#include <cstdio>
#include <vector>

#define TILE 16

__global__ void matmul(const float* a, const float* b, float* c, int rows,
                       int inner, int columns) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < (inner + TILE - 1) / TILE; ++tile) {
    int k = tile * TILE + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] =
        row < rows && k < inner ? a[row * inner + k] : 0;
    k = tile * TILE + threadIdx.y;
    tile_b[threadIdx.y][threadIdx.x] =
        k < inner && column < columns ? b[k * columns + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) {
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

int main() {
  const int rows = 70, inner = 45, columns = 83;
  std::vector<float> a(rows * inner), b(inner * columns), c(rows * columns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = (float)(i * 7 % 11) - 5;
  for (size_t i = 0; i < b.size(); ++i) b[i] = (float)(i * 5 % 13) * 0.5f;
  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(TILE, TILE);
  dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
  matmul<<<grid, block>>>(da, db, dc, rows, inner, columns);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  double trace = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;  // Small halves: exact in any order.
      for (int k = 0; k < inner; ++k)
        sum += a[i * inner + k] * b[k * columns + j];
      wrong += c[i * columns + j] != sum;
      if (i == j) trace += c[i * columns + j];
    }
  }
  printf("%d x %d x %d: trace %.1f, %d wrong\n", rows, inner, columns, trace,
         wrong);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
