// How the elements of a matrix lie in the registers of a warp.
#include "common/simt/isa/matrix/fragment.h"

#include <algorithm>

namespace simt {

int bits_of(Number number) {
  switch (number) {
    case Number::kHalf:
    case Number::kBFloat:
      return 16;
    case Number::kE4M3:
    case Number::kE5M2:
    case Number::kSigned8:
    case Number::kUnsigned8:
      return 8;
    case Number::kSigned4:
    case Number::kUnsigned4:
      return 4;
    case Number::kDouble:
      return 64;
    default:
      return 32;
  }
}

Fragment::Fragment(Number number, std::array<Step, 5> lane,
                   std::vector<Step> element, int rows, int columns)
    : number(number),
      rows(rows),
      columns(columns),
      lane_steps(lane),
      element_steps(std::move(element)) {
  for (int e = 0; e < 1 << element_steps.size(); ++e)
    for (int l = 0; l < kLanes; ++l) {
      const Step at = place(l, e);
      index_.push_back(static_cast<uint16_t>(at.row * columns + at.column));
    }
}

Step Fragment::place(int lane, int element) const {
  Step sum;
  for (int k = 0; k < 5; ++k)
    if (lane >> k & 1) sum = sum + lane_steps[k];
  for (size_t k = 0; k < element_steps.size(); ++k)
    if (element >> k & 1) sum = sum + element_steps[k];
  return sum;
}

Fragment Fragment::transposed() const {
  std::array<Step, 5> lane = lane_steps;
  std::vector<Step> element = element_steps;
  for (Step& s : lane) s = s.transposed();
  for (Step& s : element) s = s.transposed();
  return {number, lane, element, columns, rows};
}

void Fragment::unpack(Warp& warp, const Place* registers, uint32_t* out) const {
  const int width = bits(), count = per_register();
  const uint32_t mask = ~0u >> (32 - width);
  const uint16_t* to = index_.data();
  for (int r = 0; r < this->registers(); ++r) {
    const uint32_t* from = lanes<uint32_t>(warp, registers[r]);
    for (int e = 0; e < count; ++e, to += kLanes)
      for (int l = 0; l < kLanes; ++l)
        out[to[l]] = from[l] >> (e * width) & mask;
  }
}

void Fragment::unpack(Warp& warp, const Place* registers, uint64_t* out) const {
  const uint16_t* to = index_.data();
  for (int r = 0; r < this->registers(); ++r, to += kLanes) {
    const uint64_t* from = lanes<uint64_t>(warp, registers[r]);
    for (int l = 0; l < kLanes; ++l) out[to[l]] = from[l];
  }
}

void Fragment::pack(Warp& warp, const Place* registers,
                    const uint32_t* in) const {
  const int width = bits(), count = per_register();
  const uint16_t* from = index_.data();
  for (int r = 0; r < this->registers(); ++r) {
    uint32_t* to = lanes<uint32_t>(warp, registers[r]);
    for (int l = 0; l < kLanes; ++l) to[l] = 0;
    for (int e = 0; e < count; ++e, from += kLanes)
      for (int l = 0; l < kLanes; ++l) to[l] |= in[from[l]] << (e * width);
  }
}

void Fragment::pack(Warp& warp, const Place* registers,
                    const uint64_t* in) const {
  const uint16_t* from = index_.data();
  for (int r = 0; r < this->registers(); ++r, from += kLanes) {
    uint64_t* to = lanes<uint64_t>(warp, registers[r]);
    for (int l = 0; l < kLanes; ++l) to[l] = in[from[l]];
  }
}

namespace {

// Eight rows of four registers: what the hardware multiplies is made of them.
struct Tile {
  int per_register;
  std::array<Step, 5> lanes() const {
    const auto one = static_cast<uint8_t>(per_register);
    const auto two = static_cast<uint8_t>(2 * per_register);
    return {{{0, one}, {0, two}, {1, 0}, {2, 0}, {4, 0}}};
  }
  std::vector<Step> elements() const {
    std::vector<Step> steps;
    for (int c = 1; c < per_register; c *= 2)
      steps.push_back({0, static_cast<uint8_t>(c)});
    return steps;
  }
};

void add_columns(std::vector<Step>& steps, int from, int columns) {
  for (int c = from; c < columns; c *= 2)
    steps.push_back({0, static_cast<uint8_t>(c)});
}
void add_rows(std::vector<Step>& steps, int from, int rows) {
  for (int r = from; r < rows; r *= 2)
    steps.push_back({static_cast<uint8_t>(r), 0});
}

Tile tile_of(Number number) { return {std::max(1, 32 / bits_of(number))}; }

}  // namespace

Fragment fragment_a(Number number, int m, int k) {
  const Tile tile = tile_of(number);
  std::vector<Step> elements = tile.elements();
  add_rows(elements, 8, std::min(m, 16));
  add_columns(elements, 4 * tile.per_register, k);
  add_rows(elements, 16, m);
  return {number, tile.lanes(), elements, m, k};
}

Fragment fragment_b(Number number, int k, int n) {
  const Tile tile = tile_of(number);
  std::vector<Step> elements = tile.elements();
  add_columns(elements, 4 * tile.per_register, k);
  add_rows(elements, 8, n);
  return Fragment(number, tile.lanes(), elements, n, k).transposed();
}

Fragment fragment_c(Number number, int m, int n) {
  const Tile tile{2};  // Neighbours stay together, whatever their width.
  std::vector<Step> elements = tile.elements();
  add_rows(elements, 8, m);
  add_columns(elements, 8, n);
  return {number, tile.lanes(), elements, m, n};
}

Fragment quarters_a(bool by_columns) {
  if (by_columns)
    return {Number::kHalf,
            {{{0, 1}, {0, 2}, {8, 0}, {16, 0}, {4, 0}}},
            {{1, 0}, {2, 0}},
            32,
            4};
  return {Number::kHalf,
          {{{1, 0}, {2, 0}, {8, 0}, {16, 0}, {4, 0}}},
          {{0, 1}, {0, 2}},
          32,
          4};
}

Fragment quarters_b(bool by_columns) {
  return quarters_a(!by_columns).transposed();
}

Fragment quarters_c(Number number) {
  if (number == Number::kHalf)
    return {number,
            {{{1, 0}, {2, 0}, {8, 0}, {16, 0}, {4, 0}}},
            {{0, 1}, {0, 2}, {0, 4}},
            32,
            8};
  return {number,
          {{{1, 0}, {0, 2}, {8, 0}, {16, 0}, {4, 0}}},
          {{0, 1}, {2, 0}, {0, 4}},
          32,
          8};
}

}  // namespace simt
