// Chapter 14: a tile in shared memory, and which lane moves which part of it.
//
// A tile is kSide x kSide elements. A block of dim3(32, kWarps) threads fills
// it and empties it, a pack per thread at a time. If the elements are floats,
// no two lanes of a warp meet in a bank.
#pragma once

#include <cstdint>

namespace tiles {

constexpr int kSide = 64;
constexpr int kWarps = 8;
constexpr int kEach = kSide * kSide / (32 * kWarps);  // Elements per thread.

// kPack neighbours in a row of a matrix, moved by one access.
template <class T, int kPack>
struct alignas(sizeof(T) * kPack) Pack {
  T v[kPack];
};

// The pack that begins with element i, where packs are counted from p on.
template <int kPack, class T>
__device__ Pack<T, kPack>* pack_at(T* p, int64_t i) {
  return reinterpret_cast<Pack<T, kPack>*>(p) + i / kPack;
}
template <int kPack, class T>
__device__ const Pack<T, kPack>* pack_at(const T* p, int64_t i) {
  return reinterpret_cast<const Pack<T, kPack>*>(p) + i / kPack;
}

constexpr int kPackBytes = 16, kSectorBytes = 32;
template <class T>
constexpr int kPackOf = kPackBytes / sizeof(T);

// A row is three elements longer than the tile is wide: two are left out after
// 32 columns, one after 64. kBelow are left out after 32 rows. There floats
// would come back to the banks of the first 32. No pack lies across a gap.
template <class T, int kRows, int kBelow = 2>
struct Tile {
  static constexpr int kPitch = kSide + 3;
  T kept[kRows * kPitch + kRows / 32 * kBelow];

  __device__ T* at(int r, int c) {
    return &kept[r * kPitch + c + c / 32 * 2 + r / 32 * kBelow];
  }

  // Neighbours in a row go in, and neighbours in a column come out.
  template <int kPack>
  __device__ void put(int r, int c, const Pack<T, kPack>& pack) {
    for (int e = 0; e < kPack; ++e) at(r, c)[e] = pack.v[e];
  }
  template <int kPack>
  __device__ Pack<T, kPack> take(int r, int c) {
    Pack<T, kPack> pack;
    for (int e = 0; e < kPack; ++e) pack.v[e] = at(r, c)[e * kPitch];
    return pack;
  }
};

struct Place {
  int row, column;
};

// Where a thread's first pack begins in the tile, or in the tile transposed:
// consecutive threads have consecutive packs of a row. The thread's next pack
// lies kDown rows below.
template <int kPack>
__device__ Place place() {
  constexpr int kAcross = kSide / kPack;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  return {thread / kAcross, thread % kAcross * kPack};
}
template <int kPack, int kBlockWarps = kWarps>
constexpr int kDown = kBlockWarps * 32 * kPack / kSide;

// How many elements lie between p and the sector's beginning.
template <class T>
__device__ int offset_in_sector(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % kSectorBytes / sizeof(T);
}

// Whether each row of a matrix at p begins at a multiple of `bytes`.
template <class T>
bool rows_begin_at(int bytes, const T* p, int64_t columns) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0 &&
         columns % (bytes / sizeof(T)) == 0;
}

inline int64_t tiles_for(int64_t n) { return (n + kSide - 1) / kSide; }

}  // namespace tiles
