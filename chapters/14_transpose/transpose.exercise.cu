// Chapter 14: a tile that is filled and emptied in packs.
//
// New:   a thread has several packs under way, of 16 bytes wherever the rows of
//        x, or those of y, can be cut into such.
// Why:   bytes in flight, as in chapter 03. The padding keeps packs apart, too,
//        as a warp takes four short rows of them and not one long one.
// Price: four kernels instead of one, and other tiles for a narrow matrix.

#include "chapters/14_transpose/narrow.h"
#include "chapters/14_transpose/tile.h"
#include "common/check.h"
#include "common/transpose.h"

namespace {

using namespace tiles;

// A pack is kIn elements of a row of x, and kOut of a row of y. Where rows of y
// begin within a sector, their pieces do not: the tile has rows before its own.
template <class T, int kIn, int kOut>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_down) {
  constexpr int kBefore = kOut == 1 ? kSectorBytes / sizeof(T) : 0;
  __shared__ Tile<T, kBefore + kSide> tile;
  const int64_t top = int64_t{blockIdx.x % tiles_down} * kSide - kBefore;
  const int64_t left = int64_t{blockIdx.x / tiles_down} * kSide;

  // >>> Your code, at most 22 lines: the block fills `tile` from x and, once it
  // is whole, writes it to y, transposed. A thread's first pack of x begins in
  // the row and the column of the tile that place<kIn>() tells; its next ones
  // lie kDown<kIn> rows below each other, to the tile's end. Load all of them
  // from pack_at<kIn>(x, i) before the first goes into the tile, by tile.put().
  // Of y a thread writes kSide / kDown<kOut> packs, and place<kOut>() tells row
  // and column of the transposed tile. Where packs are single elements, a piece
  // of y's row begins kBefore places behind the tile's first row, less
  // offset_in_sector() of that row's element of y. tile.template take<kOut>()
  // gives a pack. Any pack may lie outside of the matrix: is_in(i, n) asks.
  (void)top, (void)left;  // Remove this line.
  // <<<
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.
  if (is_narrow(rows, columns))
    return transpose_narrow(x, y, rows, columns, stream);
  constexpr int kMost = kPackOf<T>;
  const bool packs_in = rows_begin_at(kPackBytes, x, columns);
  const bool packs_out = rows_begin_at(kSectorBytes, y, rows);
  const auto kernel = packs_in ? packs_out ? transpose_kernel<T, kMost, kMost>
                                           : transpose_kernel<T, kMost, 1>
                      : packs_out ? transpose_kernel<T, 1, kMost>
                                  : transpose_kernel<T, 1, 1>;
  const int64_t down = tiles_for(rows + (packs_out ? 0 : kSectorBytes));
  kernel<<<down * tiles_for(columns), dim3(32, kWarps), 0, stream>>>(
      x, y, rows, columns, down);
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
