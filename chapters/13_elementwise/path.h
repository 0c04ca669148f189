// Which elements go in packs, and how wide these are: decided on the host, from
// nothing but types, addresses and n. It follows no pointer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace elementwise {

using Error = const char*;

constexpr int kBlock = 256;
constexpr int kAccess = 16;   // Bytes: the most that one access moves.
constexpr int kMostPack = 8;  // Elements.
constexpr int kWord = 4;      // Bytes.

// ---- By type ----------------------------------------------------------------

// A type that promises less alignment than it has bytes goes one by one.
template <class T>
constexpr int pack_of() {
  static_assert(sizeof(T) <= kAccess,
                "elementwise: an element of more than 16 bytes fits no access");
  const int most = std::min<int>(kAccess / sizeof(T), kMostPack);
  return alignof(T) == sizeof(T) ? most : 1;
}

// The elements that one access moves, whichever array it is of.
template <class... T>
constexpr int kPackSize = std::min({pack_of<T>()...});

// The elements that a thread takes, in packs as wide as there are: as many
// packs as 16 bytes hold of its operands A, but one at least. All their loads
// are in flight while it waits.
template <class... A>
constexpr int share_of(int pack) {
  return pack * std::max<int>(1, kAccess / (pack * (... + sizeof(A))));
}

// ---- By address -------------------------------------------------------------

// First `head` elements, then packs of `width`, then what is left. If it is
// shifted, the elements of a pack may lie in two packs of an operand.
struct Path {
  int width;
  int64_t head, packs, blocks;
  bool shifted = false;
};

// Where an array begins.
struct Place {
  uintptr_t at;
  int bytes, alignment;  // Of an element.
};

// Bits in which the position of an array's first element differs from another.
inline uintptr_t difference(std::span<const Place> places, uintptr_t position) {
  uintptr_t differ = 0;
  for (const Place& p : places) differ |= (p.at / p.bytes) ^ position;
  return differ;
}

inline int least_bytes(std::span<const Place> places, int least = kAccess) {
  for (const Place& p : places) least = std::min(least, p.bytes);
  return least;
}

// The widest packs that begin at the same element of every array. Where an
// access would be of less than a word, which is slow, packs suit the results
// alone: a thread then reads two packs of an operand to get one. At both ends a
// pack is left out, as one of its two would lie outside the operand.
inline Path make_path(int pack, int share, int64_t n,
                      std::span<const Place> results,
                      std::span<const Place> operands) {
  const uintptr_t position = results[0].at / results[0].bytes;
  const uintptr_t results_differ = difference(results, position);
  const uintptr_t differ = results_differ | difference(operands, position);
  const int least = least_bytes(results, least_bytes(operands));
  int width = pack;
  while (differ % width != 0) width /= 2;
  const bool shifted = width * least < kWord && pack * least >= kWord &&
                       results_differ % pack == 0;
  if (shifted) width = pack;
  const int64_t left_out = shifted ? width : 0;
  const int64_t head = std::min<int64_t>(n, -position % width + left_out);
  const int64_t packs = std::max<int64_t>(0, (n - head - left_out) / width);
  const int64_t tile = kBlock * (share / width);  // Packs of a block.
  const bool others = packs * width < n;  // They have a block of their own.
  return {width, head, packs, (packs + tile - 1) / tile + others, shifted};
}

// ---- What is refused --------------------------------------------------------

// An array may be written in place: where each element is read, and by the same
// thread. Otherwise somebody would read what somebody else has overwritten.
inline bool may_write(const Place& r, const Place& p, int64_t n) {
  const bool apart = r.at + n * r.bytes <= p.at || p.at + n * p.bytes <= r.at;
  return apart || (r.at == p.at && r.bytes == p.bytes);
}

// What is wrong with n elements of these arrays, or nullptr. A result may not
// share memory with another one.
inline Error trouble(int64_t n, std::span<const Place> results,
                     std::span<const Place> operands) {
  if (n < 0) return "n is negative.";
  if (n > int64_t{INT32_MAX} * kBlock)
    return "n is more than a grid has threads for.";
  for (const auto& places : {results, operands}) {
    for (const Place& p : places) {
      if (n > 0 && p.at == 0) return "An array is a null pointer.";
      if (p.at % p.alignment) return "An array is not aligned to its elements.";
    }
  }
  for (const Place& r : results)
    for (const Place& p : operands)
      if (!may_write(r, p, n)) return "A result overlaps an operand in part.";
  if (results.size() > 1 && n > 0 &&
      (results[0].at == results[1].at || !may_write(results[0], results[1], n)))
    return "The results overlap.";
  return nullptr;
}

}  // namespace elementwise
