// Chapter 14, variant: a tile whose rows are one word too long.
//
// New:   after each row of the tile lies a word that nobody uses.
// Why:   each row then begins one bank further on, and so the words of a column
//        lie in different banks.
// Price: one word of shared memory in 33.

#include "common/check.h"
#include "common/transpose.h"

namespace {

constexpr int kTile = 32;  // A warp moves a row of a tile.
constexpr int kRows = 8;   // Rows that move at once.

// One dimension counts the tiles: no other of a grid has room for as many.
template <class T>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_across) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t top = int64_t{blockIdx.x / tiles_across} * kTile;
  const int64_t left = int64_t{blockIdx.x % tiles_across} * kTile;

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

int64_t tiles_for(int64_t n) { return (n + kTile - 1) / kTile; }

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.

  const int64_t tiles_across = tiles_for(columns);
  const int64_t grid = tiles_for(rows) * tiles_across;
  const dim3 block(kTile, kRows);
  transpose_kernel<<<grid, block, 0, stream>>>(x, y, rows, columns,
                                               tiles_across);
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
