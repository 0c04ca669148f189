// Chapter 14: a matrix whose rows begin anywhere, so that packs do not fit.
//
// Its tiles are taller than wide. A warp writes a long piece of a row of y, 32
// elements at a time, from the beginning of a sector on: no block shares one
// with the block below. So a tile has the rows of a sector before its own,
// which the tile above reads, too.
#pragma once

#include <cstdint>

#include "chapters/14_transpose/tile.h"
#include "common/check.h"

namespace tiles {

// A tile writes kTall rows, and has those before them, too. Blocks are as many
// as leave a thread 64 registers: all of its loads are under way at once.
template <int kIn>
constexpr int kTall = kIn == 1 ? 128 : 256;
template <class T>
constexpr int kBefore = kSectorBytes / sizeof(T);
template <class T, int kIn>  // Lanes take single rows: no gap after 32 rows.
using TallTile = Tile<T, kBefore<T> + kTall<kIn>, 0>;
template <int kIn>
constexpr int kTallWarps = kTall<kIn> / 16;
template <int kIn>
constexpr int kBlocksPerSm = 32 / kTallWarps<kIn>;

// Tiles side by side share the sectors at the ends of their rows of x. So bands
// of them are at work together, from left to right and then downwards. Up to
// kLong rows, two columns of tiles are at work at once (on 132 SMs), and a band
// of one is best: it writes to the fewest rows of y.
constexpr int kBand = 16;
constexpr int64_t kLong = 1 << 15;
struct Bands {
  unsigned down, width;  // Tiles of a band.

  __device__ unsigned row() const { return blockIdx.x / width % down; }
  __device__ unsigned column() const {
    return blockIdx.x / (width * down) * width + blockIdx.x % width;
  }
};

// Memory brings 256 bytes where the pack lies: the rest is wanted next. GPUs
// before the A100 cannot be asked for that.
template <class P>
__device__ P load_ahead(const P* from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(P) == 16) {
    uint4 words;
    asm("ld.global.nc.L2::256B.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
        : "l"(from));
    return __builtin_bit_cast(P, words);
  } else if constexpr (sizeof(P) == 4) {
    unsigned word;
    asm("ld.global.nc.L2::256B.b32 %0, [%1];" : "=r"(word) : "l"(from));
    return __builtin_bit_cast(P, word);
  }
#endif
  return *from;
}

template <class T, int kIn>
__global__ void __launch_bounds__(32 * kTallWarps<kIn>, kBlocksPerSm<kIn>)
    tall_kernel(const T* __restrict__ x, T* __restrict__ y, int64_t rows,
                int64_t columns, Bands bands) {
  extern __shared__ int memory[];
  auto& tile = reinterpret_cast<TallTile<T, kIn>&>(memory);
  constexpr int kRows = kBefore<T> + kTall<kIn>;
  const int64_t top = int64_t{bands.row()} * kTall<kIn> - kBefore<T>;
  const int64_t left = int64_t{bands.column()} * kSide;
  // Which of the tile's rows and columns are the matrix's.
  const int first = top < 0 ? kBefore<T> : 0;
  const int last = min(int64_t{kRows}, rows - top);
  const int width = min(int64_t{kSide}, columns - left);

  const Place in = place<kIn>();
  constexpr int kStep = kDown<kIn, kTallWarps<kIn>>;
  constexpr int kLoads = (kRows + kStep - 1) / kStep;
  Pack<T, kIn> pack[kLoads];
  const int64_t begin = (top + in.row) * columns + left + in.column;
  for (int k = 0; k < kLoads; ++k) {
    const int row = in.row + k * kStep;
    if (row >= first && row < last && in.column < width)
      pack[k] = load_ahead(pack_at<kIn>(x, begin + k * kStep * columns));
  }
  for (int k = 0; k < kLoads; ++k)
    if (const int row = in.row + k * kStep; row < kRows)
      tile.put(row, in.column, pack[k]);
  __syncthreads();
  for (int column = threadIdx.y; column < width; column += kTallWarps<kIn>) {
    T* const to = y + (left + column) * rows + top;
    const int lane = kBefore<T> - offset_in_sector(to) + threadIdx.x;
    for (int row = lane; row < lane + kTall<kIn>; row += 32)
      if (row >= first && row < last) to[row] = *tile.at(row, column);
  }
}

// Whether a block may have so much shared memory: Turing's has 64 KB at most.
template <class T, int kIn>
bool has_room() {
  int device, most;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(
      &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return sizeof(TallTile<T, kIn>) <= static_cast<size_t>(most);
}

template <class T, int kIn>
void transpose_tall(const T* x, T* y, int64_t rows, int64_t columns,
                    cudaStream_t stream) {
  const int64_t down = (rows + kBefore<T> + kTall<kIn> - 1) / kTall<kIn>;
  const int64_t across = tiles_for(columns);
  const int64_t most = rows > kLong ? kBand : 1;
  const int64_t bands = (across + most - 1) / most;
  const int64_t width = (across + bands - 1) / bands;
  const auto kernel = tall_kernel<T, kIn>;
  constexpr int kBytes = sizeof(TallTile<T, kIn>);
  CUDA_CHECK(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<down * width * bands, dim3(32, kTallWarps<kIn>), kBytes, stream>>>(
      x, y, rows, columns,
      {static_cast<unsigned>(down), static_cast<unsigned>(width)});
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace tiles
