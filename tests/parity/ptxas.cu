// What ptxas does after the PTX is written, and the executor does not see:
// each kernel here is known to differ, in what tests/parity/exceptions.txt
// says.
#include <cuda_runtime.h>

#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kTile = 16;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Neighbouring words of `a`, loaded one by one, become 16-byte loads.
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// The loop over a row is unrolled once more, and loads ahead of its end.
__global__ void spmv_csr(const int* starts, const int* columns,
                         const float* values, const float* x, float* y,
                         int rows) {
  const int row = thread();
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// Sides of a few instructions are executed by all lanes, under a predicate.
__global__ void short_sides(const int* x, int* y) {
  const int i = threadIdx.x;
  int v = x[i];
  for (int k = 0; k < 8; ++k) {
    if (v & 1)
      v = 3 * v + 1;
    else
      v = v / 2 + k;
  }
  y[i] = v;
}

}  // namespace

int main() {
  constexpr int kSide = 64, kRows = 200;
  std::vector<int> starts(kRows + 1), columns;
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < r * 7 % 13; ++k) columns.push_back((r * k + k) % kSide);
    starts[r + 1] = static_cast<int>(columns.size());
  }
  const DeviceArray<float> a(kSide * kSide), b(kSide * kSide), c(kSide * kSide);
  CUDA_CHECK(cudaMemset(a.data(), 0, a.size() * sizeof(float)));
  CUDA_CHECK(cudaMemset(b.data(), 0, b.size() * sizeof(float)));
  const DeviceArray<int> from(starts), where(columns), out(kSide);

  matmul_tiled<<<dim3(4, 4), dim3(kTile, kTile)>>>(a.data(), b.data(), c.data(),
                                                   kSide);
  spmv_csr<<<2, 128>>>(from.data(), where.data(), a.data(), b.data(), c.data(),
                       kRows);
  short_sides<<<1, kSide>>>(from.data(), out.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
