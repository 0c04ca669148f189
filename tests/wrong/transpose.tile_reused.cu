// Wrong on purpose: a block turns one tile after another in the same shared
// memory, and fills it anew while some threads still read it.

#include "common/check.h"
#include "common/transpose.h"

namespace {

constexpr int kTile = 32;  // A warp moves a row of a tile.
constexpr int kRows = 8;   // So many of them at once.

template <class T>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t left = int64_t{blockIdx.x} * kTile;

  for (int64_t top = 0; top < rows; top += kTile) {
    for (int k = threadIdx.y; k < kTile; k += kRows) {
      const int64_t r = top + k, c = left + threadIdx.x;
      if (r < rows && c < columns) tile[k][threadIdx.x] = x[r * columns + c];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < kTile; k += kRows) {
      const int64_t r = top + threadIdx.x, c = left + k;
      if (r < rows && c < columns) y[c * rows + r] = tile[threadIdx.x][k];
    }
  }
}

int64_t tiles_for(int64_t n) { return (n + kTile - 1) / kTile; }

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.

  const int64_t grid = tiles_for(columns);
  const dim3 block(kTile, kRows);
  transpose_kernel<<<grid, block, 0, stream>>>(x, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream) {
  transpose_any(x, y, rows, columns, stream);
}

void transpose_half(const __half* x, __half* y, int64_t rows, int64_t columns,
                    cudaStream_t stream) {
  transpose_any(x, y, rows, columns, stream);
}
