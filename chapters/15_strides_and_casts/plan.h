// Chapter 15: the planner of the strided engine.
//
// Which path a call takes, decided on the host from numbers alone: no pointer
// is followed and no GPU asked, so that any compiler and any test can run it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace strided {

constexpr int kMostDims = 25;
constexpr int kMostArrays = 8;
constexpr int kBlock = 256, kWarp = 32;
constexpr int kTile = 64;      // Rows, and columns, of a tile,
constexpr int kTileFrom = 32;  // and how many make it pay.

using Error = const char*;  // A sentence about what is wrong, or nullptr.
using Strides = std::array<int64_t, kMostArrays>;  // In bytes, per array.

enum class Type {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kHalf,
  kBFloat16,
  kFloat,
  kDouble
};
constexpr int bytes_of(Type type) {
  constexpr int kBytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(type)];
}

// Strides count elements, as in PyTorch; 0 repeats them.
struct Array {
  uintptr_t at;
  Type type;
  std::vector<int64_t> sizes, strides;
};

// What the planner has to know of a functor and of a GPU.
struct Kind {
  int outputs;
  std::vector<Type> types;  // Of its results, then of its arguments.
};
struct Gpu {
  int sms, threads_per_sm;
};

struct Dim {
  int64_t size = 1;
  Strides stride{};
};

// Elements that 32-bit indices reach, and how they are gone through: in packs
// of `width`, one by one if that is 1, or in tiles.
struct Piece {
  std::vector<Dim> dims;  // From the fastest of the output to its slowest.
  std::vector<uintptr_t> at;
  std::vector<int> bytes;  // Of an element, per array.
  int outputs;
  bool casts, tiles = false, stretches = false;
  int width = 1;
  int head = 0, tail = 0;  // Elements before the packs, and after.
  std::array<int, kMostArrays> shift{};    // Bytes by which packs lie too late.
  std::array<bool, kMostArrays> packed{};  // Else they come one by one,
  std::array<bool, kMostArrays> turned{};  // or through a tile.
  int steps = 1;   // Rows that a thread does, with what they share.
  Strides step{};  // From one of them to the next.

  int64_t count() const {
    int64_t product = 1;
    for (const Dim& d : dims) product *= d.size;
    return product;
  }
  int arrays() const { return static_cast<int>(at.size()); }
  // Where the last element is.
  int64_t last(int array) const {
    int64_t sum = 0;
    for (const Dim& d : dims) sum += (d.size - 1) * d.stride[array];
    return sum;
  }
  // One stretch of memory, in the order in which the elements are counted.
  bool is_stretch(int array) const {
    int64_t next = bytes[array];
    for (const Dim& d : dims) {
      if (d.stride[array] != next) return false;
      next *= d.size;
    }
    return true;
  }
  bool is_contiguous() const {
    for (int a = 0; a < arrays(); ++a)
      if (!is_stretch(a)) return false;
    return true;
  }
  bool repeats(int array) const {
    return std::any_of(dims.begin(), dims.end(),
                       [&](const Dim& d) { return d.stride[array] == 0; });
  }
  std::string path() const {
    const char* const how = tiles             ? "tiles"
                            : is_contiguous() ? "contiguous"
                                              : "strided";
    return std::string(how) + (casts ? " with casts" : "");
  }
};

struct Plan {
  Error error = nullptr;
  std::vector<Piece> pieces;
};

// ---- What is refused --------------------------------------------------------

inline Error mistake(const Array& array) {
  if (array.sizes.size() > kMostDims)
    return "An array has more than 25 dimensions.";
  if (array.strides.size() != array.sizes.size())
    return "An array does not have a stride for each dimension.";
  int64_t count = 1, reach = 0;
  bool is_far = false;
  for (size_t d = 0; d < array.sizes.size(); ++d) {
    if (array.sizes[d] < 0) return "A dimension has a negative size.";
    if (array.strides[d] < 0) return "A stride is negative.";
    const int64_t size = std::max<int64_t>(array.sizes[d], 1);
    int64_t last;
    is_far |= __builtin_mul_overflow(count, size, &count) ||
              __builtin_mul_overflow(size - 1, array.strides[d], &last) ||
              __builtin_add_overflow(reach, last, &reach);
  }
  if (is_far || reach > INT64_MAX / 16)
    return "An array is larger than 64 bits can count.";
  return nullptr;
}

// Memory from the first byte to the last one.
inline bool overlap(const Piece& all, int a, int b) {
  const auto end = [&](int k) {
    return all.at[k] + all.last(k) + all.bytes[k];
  };
  return all.at[a] < end(b) && all.at[b] < end(a);
}
inline bool are_same(const Piece& all, int a, int b) {
  return all.at[a] == all.at[b] && all.bytes[a] == all.bytes[b] &&
         std::all_of(all.dims.begin(), all.dims.end(),
                     [&](const Dim& d) { return d.stride[a] == d.stride[b]; });
}

inline Error mistake(const Piece& all) {
  for (int a = 0; a < all.arrays(); ++a) {
    if (all.at[a] == 0) return "An array is a null pointer.";
    if (all.at[a] % all.bytes[a] != 0)
      return "An array is not aligned to its elements.";
  }
  for (int out = 0; out < all.outputs; ++out) {
    std::vector<Dim> dims = all.dims;
    std::sort(dims.begin(), dims.end(), [&](const Dim& a, const Dim& b) {
      return a.stride[out] < b.stride[out];
    });
    int64_t reach = all.bytes[out];
    for (const Dim& d : dims) {
      if (d.size > 1 && d.stride[out] < reach)
        return "Elements of an output may share a place.";
      reach += (d.size - 1) * d.stride[out];
    }
    for (int a = out + 1; a < all.arrays(); ++a)
      if (overlap(all, out, a) && !(a >= all.outputs && are_same(all, out, a)))
        return "An output overlaps another array, and is not the same.";
  }
  return nullptr;
}

// ---- Dimensions -------------------------------------------------------------

// All arrays in the shape of the first output: shorter shapes lack dimensions
// in front, and what has size 1 is repeated. False where that is not possible.
inline bool broadcast(const std::vector<Array>& arrays, Piece* all) {
  const std::vector<int64_t>& sizes = arrays[0].sizes;
  for (size_t back = 1; back <= sizes.size(); ++back)
    all->dims.push_back({sizes[sizes.size() - back], {}});
  for (int a = 0; a < all->arrays(); ++a) {
    const Array& array = arrays[a];
    const size_t rank = array.sizes.size();
    if (rank > sizes.size()) return false;
    if (a < all->outputs && array.sizes != sizes) return false;
    for (size_t d = 0; d < rank; ++d) {
      Dim& dim = all->dims[d];
      const int64_t size = array.sizes[rank - 1 - d];
      if (size != dim.size && size != 1) return false;
      if (size == dim.size && size != 1)
        dim.stride[a] = array.strides[rank - 1 - d] * all->bytes[a];
    }
  }
  return true;
}

// In the order of the output's memory; two that all arrays step through like
// one become one.
inline void join(Piece* piece) {
  std::vector<Dim> dims = piece->dims;
  std::erase_if(dims, [](const Dim& d) { return d.size == 1; });
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) {
    return a.stride[0] < b.stride[0];
  });
  piece->dims.clear();
  for (const Dim& next : dims) {
    Dim* const last = piece->dims.empty() ? nullptr : &piece->dims.back();
    const auto goes_on = [&](int a) {
      return next.stride[a] == last->size * last->stride[a];
    };
    bool joins = last != nullptr;
    for (int a = 0; a < piece->arrays(); ++a) joins = joins && goes_on(a);
    if (joins) {
      last->size *= next.size;
    } else {
      piece->dims.push_back(next);
    }
  }
  if (!piece->dims.empty()) return;
  piece->dims.resize(1);  // A single element.
  for (int a = 0; a < piece->arrays(); ++a)
    piece->dims[0].stride[a] = piece->bytes[a];
}

}  // namespace strided
