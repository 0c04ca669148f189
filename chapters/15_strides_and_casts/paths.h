// Chapter 15: the pieces of a call, and which path each of them takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chapters/15_strides_and_casts/plan.h"

namespace strided {

// ---- Pieces -----------------------------------------------------------------

inline bool fits_32_bits(const Piece& piece) {
  bool fits = piece.count() <= INT32_MAX;
  for (int a = 0; a < piece.arrays(); ++a)
    fits = fits && piece.last(a) < INT32_MAX;
  return fits;
}

// Halves the dimension that reaches furthest, until all pieces fit.
inline void split(const Piece& piece, std::vector<Piece>* pieces) {
  if (fits_32_bits(piece)) return pieces->push_back(piece);
  int far = 0;
  int64_t furthest = -1;
  for (int d = 0; d < static_cast<int>(piece.dims.size()); ++d) {
    const Dim& dim = piece.dims[d];
    const int64_t stride =
        *std::max_element(dim.stride.begin(), dim.stride.end());
    if (dim.size > 1 && (dim.size - 1) * stride > furthest) {
      furthest = (dim.size - 1) * stride;
      far = d;
    }
  }
  Piece first = piece, second = piece;
  const int64_t half = piece.dims[far].size / 2;
  first.dims[far].size = half;
  second.dims[far].size -= half;
  for (int a = 0; a < piece.arrays(); ++a)
    second.at[a] += half * piece.dims[far].stride[a];
  split(first, pieces);
  split(second, pieces);
}

// ---- Packs ------------------------------------------------------------------

// What is cast moves in packs of four, whatever its types; other elements in
// packs of 16 bytes, at most eight.
constexpr int kCastWidth = 4;
constexpr int most_width(int bytes) { return std::min(8, 16 / bytes); }

// How many packs a thread has under way: 16 bytes in all, at most four packs.
constexpr int accesses_of(int width, int bytes, bool casts) {
  if (casts) return width == 1 ? 4 : 2;
  return std::clamp(16 / (width * bytes), 1, 4);
}

inline int largest(const Piece& piece) {
  return *std::max_element(piece.bytes.begin(), piece.bytes.end());
}

constexpr int pack_bytes(int width, int bytes) {
  return std::min(16, width * bytes);
}

// Where all arrays are one stretch each, some elements may come before the
// first pack, so that the outputs' packs are aligned. A thread reads two packs
// of an input whose own lie between them: so the first and the last are not
// packs.
inline bool choose_stretches(Piece* piece) {
  if (!piece->is_contiguous()) return false;
  const int width = piece->casts ? kCastWidth : most_width(largest(*piece));
  const auto late = [&](int a, int head) {
    const int bytes = piece->bytes[a];
    return (piece->at[a] + head * bytes) % pack_bytes(width, bytes);
  };
  const auto is_aligned = [&](int head) {
    for (int a = 0; a < piece->outputs; ++a)
      if (late(a, head) != 0) return false;
    return true;
  };
  int head = 0;
  while (head < width && !is_aligned(head)) ++head;
  if (head == width) return false;
  Piece cut = *piece;
  bool shifts = false;
  for (int a = piece->outputs; a < piece->arrays(); ++a) {
    cut.shift[a] = late(a, head);
    shifts |= cut.shift[a] != 0;
    if (shifts && width * piece->bytes[a] < 4) return false;
  }
  cut.stretches = true;
  cut.width = width;
  cut.head = head + shifts * width;
  cut.tail = shifts * width;
  *piece = cut;
  return true;
}

// Whether `width` elements are one pack of this array: it is one stretch, or
// its rows begin and end with whole packs.
inline bool is_packed(const Piece& piece, int a, int width) {
  const int64_t bytes = pack_bytes(width, piece.bytes[a]);
  if (piece.at[a] % bytes != 0) return false;
  if (piece.is_stretch(a)) return true;
  const auto& dims = piece.dims;
  return dims[0].stride[a] == piece.bytes[a] && dims[0].size % width == 0 &&
         std::all_of(dims.begin() + 1, dims.end(),
                     [&](const Dim& d) { return d.stride[a] % bytes == 0; });
}

// Packs of what is written and read once. What is repeated comes from a cache,
// so it may come one by one.
inline bool allows(const Piece& piece, int width) {
  for (int a = 0; a < piece.arrays(); ++a)
    if (!is_packed(piece, a, width) && (a < piece.outputs || !piece.repeats(a)))
      return false;
  return true;
}

inline void choose_width(Piece* piece) {
  int width = piece->casts ? kCastWidth : most_width(largest(*piece));
  while (width > 1 && !allows(*piece, width))
    width = piece->casts ? 1 : width / 2;
  piece->width = width;
  for (int a = 0; a < piece->arrays(); ++a)
    piece->packed[a] = is_packed(*piece, a, width);
}

// Where rows share a pack, a thread keeps it for a few of them: if they are so
// long that the packs of a warp are neighbours all the same.
inline void choose_steps(Piece* piece, const Gpu& gpu) {
  if (piece->width == 1 || piece->dims.size() == 1) return;
  Dim& row = piece->dims[0];
  Dim& rows = piece->dims[1];
  bool is_shared = false;
  for (int a = piece->outputs; a < piece->arrays(); ++a)
    is_shared |= row.stride[a] != 0 && rows.stride[a] == 0;
  if (!is_shared || row.size % piece->width != 0) return;
  if (row.size < kWarp * piece->width) return;
  const int64_t enough = int64_t{gpu.sms} * gpu.threads_per_sm * piece->width;
  for (int steps = 8; steps > 1; steps /= 2) {
    if (rows.size % steps != 0 || piece->count() / steps < enough) continue;
    piece->steps = steps;
    piece->step = rows.stride;
    rows.size /= steps;
    for (int64_t& stride : rows.stride) stride *= steps;
    return;
  }
}

inline int64_t parts_of(int64_t n, int64_t size) {
  return (n + size - 1) / size;
}

inline int64_t packs_of(const Piece& piece) {
  const int64_t others = piece.head + piece.tail;
  return std::max<int64_t>(piece.count() - others, 0) / piece.width;
}

// ---- Tiles ------------------------------------------------------------------

inline int64_t tiles_of(const Piece& piece) {
  int64_t tiles = 1;
  for (size_t d = 0; d < piece.dims.size(); ++d)
    tiles *= d < 2 ? parts_of(piece.dims[d].size, kTile) : piece.dims[d].size;
  return tiles;
}

// An input whose neighbours lie along another dimension than the output's is
// turned in tiles, if both dimensions are long enough and there are enough.
inline bool choose_tiles(Piece* piece, const Gpu& gpu) {
  Piece turned = *piece;
  auto& dims = turned.dims;
  const auto is_near = [&](const Dim& d, int a) {
    return d.stride[a] == piece->bytes[a];
  };
  const auto is_far = [&](const Dim& d, int a) {
    return d.stride[a] > piece->bytes[a];
  };
  for (int a = piece->outputs; a < piece->arrays() && !turned.tiles; ++a) {
    for (size_t d = 1; d < dims.size() && !turned.tiles; ++d) {
      if (!is_near(dims[d], a) || !is_far(dims[0], a)) continue;
      if (std::min(dims[0].size, dims[d].size) < kTileFrom) continue;
      std::rotate(dims.begin() + 1, dims.begin() + d, dims.begin() + d + 1);
      turned.tiles = true;
    }
  }
  if (!turned.tiles || tiles_of(turned) < gpu.sms) return false;
  for (int a = piece->outputs; a < piece->arrays(); ++a)
    turned.turned[a] = is_near(dims[1], a) && is_far(dims[0], a);
  *piece = turned;
  return true;
}

// ---- All of it --------------------------------------------------------------

// The outputs are the first of the arrays.
inline Plan make_plan(const std::vector<Array>& arrays, const Kind& kind,
                      const Gpu& gpu) {
  Plan plan;
  Piece all;
  all.outputs = kind.outputs;
  all.casts = false;
  for (size_t a = 0; a < arrays.size(); ++a) {
    if ((plan.error = mistake(arrays[a]))) return plan;
    all.at.push_back(arrays[a].at);
    all.bytes.push_back(bytes_of(arrays[a].type));
    all.casts |= arrays[a].type != kind.types[a];
  }
  if (!broadcast(arrays, &all)) {
    plan.error = "The arrays' shapes do not broadcast to the output's.";
    return plan;
  }
  if (all.count() == 0) return plan;
  if ((plan.error = mistake(all))) return plan;
  join(&all);
  split(all, &plan.pieces);
  for (Piece& piece : plan.pieces) {
    join(&piece);
    if (choose_stretches(&piece) || choose_tiles(&piece, gpu)) continue;
    choose_width(&piece);
    choose_steps(&piece, gpu);
  }
  return plan;
}

}  // namespace strided
