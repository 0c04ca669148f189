// Wrong on purpose: rows are as long as packs need them, wherever y begins.

#include "chapters/14_transpose/narrow.h"
#include "chapters/14_transpose/tile.h"
#include "common/check.h"
#include "common/transpose.h"

namespace {

using namespace tiles;

// A pack is kIn elements of a row of x, and kOut of a row of y.
template <class T, int kIn, int kOut>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_across) {
  __shared__ Tile<T> tile;
  const int64_t top = int64_t{blockIdx.x / tiles_across} * kSide;
  const int64_t left = int64_t{blockIdx.x % tiles_across} * kSide;

  Pack<T, kIn> in[kEach / kIn];  // All are under way before one is needed.
  for (int k = 0; k < kEach / kIn; ++k) {
    const auto [r, c] = place<kIn>(k);
    if (top + r < rows && left + c < columns)
      in[k] = *pack_at<kIn>(x, (top + r) * columns + left + c);
  }
  for (int k = 0; k < kEach / kIn; ++k) {
    const auto [r, c] = place<kIn>(k);
    for (int e = 0; e < kIn; ++e) tile.at(r, c + e) = in[k].v[e];
  }
  __syncthreads();
  for (int k = 0; k < kEach / kOut; ++k) {
    const auto [c, r] = place<kOut>(k);  // Rows and columns change places.
    Pack<T, kOut> out;
    for (int e = 0; e < kOut; ++e) out.v[e] = tile.at(r + e, c);
    if (top + r < rows && left + c < columns)
      *pack_at<kOut>(y, (left + c) * rows + top + r) = out;
  }
}

template <class T>
auto kernel_for(bool packs_in, bool packs_out) {
  constexpr int kMost = kPackOf<T>;
  if (packs_in && packs_out) return transpose_kernel<T, kMost, kMost>;
  if (packs_in) return transpose_kernel<T, kMost, 1>;
  return packs_out ? transpose_kernel<T, 1, kMost> : transpose_kernel<T, 1, 1>;
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.
  if (is_narrow(rows, columns))
    return transpose_narrow(x, y, rows, columns, stream);

  const auto kernel =
      kernel_for<T>(has_packs(x, columns), rows % kPackOf<T> == 0);
  const int64_t across = tiles_for(columns), grid = tiles_for(rows) * across;
  kernel<<<grid, dim3(32, kWarps), 0, stream>>>(x, y, rows, columns, across);
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
