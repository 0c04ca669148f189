// Chapter 14: a tile in shared memory, and which lane moves which part of it.
//
// A tile is kSide x kSide elements, in strips of 32 columns. A block of
// dim3(32, kWarps) threads fills it and empties it, a pack per thread at a
// time. If the elements are floats, no two lanes of a warp meet in a bank.
#pragma once

#include <cstdint>

namespace tiles {

constexpr int kSide = 64;
constexpr int kStrip = 32;
constexpr int kWarps = 8;
constexpr int kEach = kSide * kSide / (32 * kWarps);  // Elements per thread.

// So many neighbours in a row of a matrix, moved by one access.
template <class T, int kPack>
struct alignas(sizeof(T) * kPack) Pack {
  T v[kPack];
};

// The pack that begins with element i, where packs are counted from p on.
template <int kPack, class T>
__device__ Pack<T, kPack>* pack_at(T* p, uint64_t i) {
  return reinterpret_cast<Pack<T, kPack>*>(p) + i / kPack;
}
template <int kPack, class T>
__device__ const Pack<T, kPack>* pack_at(const T* p, uint64_t i) {
  return reinterpret_cast<const Pack<T, kPack>*>(p) + i / kPack;
}

// How many elements move at once where addresses and rows allow it: 16 bytes.
template <class T>
constexpr int kPackOf = 16 / sizeof(T);

// One more word in a strip's row: then a column's words lie in different banks.
template <class T>
struct Tile {
  T strip[kSide / kStrip][kSide][kStrip + 1];

  __device__ T& at(int r, int c) { return strip[c / kStrip][r][c % kStrip]; }
};

struct Place {
  int row, column;
};

// Where a thread's k-th pack begins in the tile, or in the tile transposed. A
// warp has kPack neighbouring rows of a strip, each of 32 / kPack packs.
template <int kPack>
__device__ Place place(int k) {
  constexpr int kAcross = kStrip / kPack, kStrips = kSide / kStrip;
  const int which = k * kWarps + threadIdx.y, lane = threadIdx.x;
  return {which / kStrips * kPack + lane / kAcross,
          which % kStrips * kStrip + lane % kAcross * kPack};
}

// Whether each row of a matrix at p may be cut into packs.
template <class T>
bool has_packs(const T* p, int64_t columns) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 && columns % kPackOf<T> == 0;
}

inline int64_t tiles_for(int64_t n) { return (n + kSide - 1) / kSide; }

}  // namespace tiles
