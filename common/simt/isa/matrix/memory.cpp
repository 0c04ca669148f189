// ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store.
#include "common/simt/isa/memory/memory.h"

#include <algorithm>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr int kMostRegisters = 8;

// What lanes hold in their registers of a matrix.
struct Held {
  uint64_t bits[kMostRegisters][kLanes] = {};

  void put(const Piece& p, const uint8_t* from) {
    bits[p.value][p.lane] |= load(p, from + p.offset) << p.shift;
  }
  void get(const Piece& p, uint8_t* to) const {
    const uint64_t value = bits[p.value][p.lane] >> p.shift;
    std::memcpy(to + p.offset, &value, p.bytes);
  }

 private:
  // By loads of just as many bytes: what was stored in parts is not to be had
  // as a whole before it is in the cache.
  template <class T>
  static uint64_t as(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static uint64_t load(const Piece& p, const uint8_t* from) {
    switch (p.bytes) {
      case 1:
        return *from;
      case 2:
        return as<uint16_t>(from);
      case 4:
        return as<uint32_t>(from);
      default:
        return as<uint64_t>(from);
    }
  }
};

uint64_t read_register(Warp& warp, Place place, int bytes, int lane) {
  return bytes == 8 ? lanes<uint64_t>(warp, place)[lane]
                    : lanes<uint32_t>(warp, place)[lane];
}

// How far rows are apart, in elements, if the statement says so: behind the
// registers that it stores.
uint64_t distance(Warp& warp, const Instruction& ins, int stored, int lane) {
  if (ins.source_count == stored + 1) return ins.matrix->row_elements;
  return lanes<uint32_t>(warp, ins.source(stored))[lane];
}

void require_shared(Warp& warp, const Instruction& ins, const Access& a) {
  if (!a.matrix->by_rows || a.space == Space::kShared) return;
  fault(warp, ins, first_lane(a.mask), "out of bounds",
        "the address " + hex(a.address[first_lane(a.mask)]) +
            " of a row of this " + ins.statement->name() +
            " is not in shared memory",
        kIllegalAddress);
}

// f(access) for all that the instruction does in memory, once it is resolved.
template <class F>
void each_access(Warp& warp, const Instruction& ins, Use use,
                 const uint8_t* staged, int stored, F f) {
  for (const MatrixAccess& one : ins.matrix->accesses) {
    uint64_t displacement[kLanes];
    for (int l = 0; l < kLanes; ++l)
      displacement[l] = one.offset[l].bytes +
                        one.offset[l].rows * distance(warp, ins, stored, l) *
                            ins.matrix->element_bits / 8;
    uint32_t mask = one.lanes;
    for (Access a(ins.address(), one.bytes, use); mask; mask &= ~a.mask) {
      a.matrix = &one;
      a.displacement = displacement;
      a.staged = staged;
      f(a, mask);
    }
  }
}

void load(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  Held held;
  each_access(warp, ins, Use::kLoad, nullptr, 0, [&](Access& a, uint32_t left) {
    resolve(warp, ins, left, a);
    require_shared(warp, ins, a);
    for (const Piece& p : a.matrix->pieces)
      if (a.mask >> p.from & 1) held.put(p, a.at<const uint8_t>(p.from));
  });
  const int bytes = ins.matrix->d.register_bytes();
  for (int k = 0; k < ins.result_count; ++k)
    if (bytes == 8)
      std::copy_n(held.bits[k], kLanes, lanes<uint64_t>(warp, ins.result(k)));
    else
      std::copy_n(held.bits[k], kLanes, lanes<uint32_t>(warp, ins.result(k)));
}

void store(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  const int count = ins.matrix->stored;
  const int bytes = ins.matrix->a.register_bytes();
  Held held;
  for (int k = 0; k < count; ++k)
    for (int l = 0; l < kLanes; ++l)
      held.bits[k][l] = read_register(warp, ins.source(k), bytes, l);
  uint8_t staged[kLanes * kMatrixBytes];
  each_access(warp, ins, Use::kStore, staged, count,
              [&](Access& a, uint32_t left) {
                for (const Piece& p : a.matrix->pieces)
                  held.get(p, staged + p.from * kMatrixBytes);
                resolve(warp, ins, left, a);
                require_shared(warp, ins, a);
                for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
                  const int l = first_lane(rest);
                  const uint8_t* from = staged + l * kMatrixBytes;
                  if (std::memcmp(a.at<uint8_t>(l), from, a.bytes) != 0)
                    warp.block->quiet = false;
                  std::memcpy(a.at<uint8_t>(l), from, a.bytes);
                }
              });
}

// An element of the transposed 8 x 8 matrix: whose it was.
struct Element {
  int lane, half;
};
Element transposed_element(int lane, int half) {
  const int row = lane % 4 * 2 + half, column = lane / 4;
  return {row * 4 + column / 2, column % 2};
}

void follow_transposed(Warp& warp, const Instruction& ins) {
  Values& values = warp.block->observers.checker->values();
  const Undefined* from = values.undefined(warp, ins.source(0));
  Undefined to;
  to.place = ins.result(0);
  to.width = 4;
  for (int l = 0; from && l < kLanes; ++l)
    for (int half = 0; half < 2; ++half) {
      const Element e = transposed_element(l, half);
      const uint64_t bits = from->bits_of(e.lane) >> (16 * e.half) & 0xffff;
      if (!bits) continue;
      if (!(to.lanes >> l & 1)) to.origin[l] = from->origin[e.lane];
      to.lanes |= 1u << l;
      to.bits[l] |= bits << (16 * half);
    }
  values.replace(warp, {to});
}

void transpose(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  const uint32_t* from = lanes<uint32_t>(warp, ins.source(0));
  uint32_t to[kLanes] = {};
  for (int l = 0; l < kLanes; ++l)
    for (int half = 0; half < 2; ++half) {
      const Element e = transposed_element(l, half);
      to[l] |= (from[e.lane] >> (16 * e.half) & 0xffff) << (16 * half);
    }
  if (warp.tainted) follow_transposed(warp, ins);
  std::copy_n(to, kLanes, lanes<uint32_t>(warp, ins.result(0)));
}

// ---- Decoding: 8 x 8 matrices -----------------------------------------------

MatrixAccess rows_of(int count, bool transposed) {
  MatrixAccess access;
  access.bytes = 16;
  access.by_rows = true;
  access.lanes = count == 4 ? kAllLanes : (1u << 8 * count) - 1;
  const int step = transposed ? 1 : 2;  // of elements that stay together
  for (int v = 0; v < count; ++v)
    for (int l = 0; l < kLanes; ++l)
      for (int half = 0; half < 2; half += step) {
        const int row = transposed ? l % 4 * 2 + half : l / 4;
        const int column = transposed ? l / 4 : l % 4 * 2;
        access.pieces.push_back({uint8_t(v), uint8_t(l), uint8_t(16 * half),
                                 uint8_t(8 * v + row), uint8_t(2 * column),
                                 uint8_t(2 * step)});
      }
  return access;
}

// ---- Decoding: wmma ---------------------------------------------------------

// What ptxas makes of a wmma load or store, for sm_90.
class Plan {
 public:
  Plan(const Fragment& fragment, int registers, bool by_columns)
      : fragment_(fragment), registers_(registers), by_columns_(by_columns) {}

  // `rows`: with ldmatrix, where that can be.
  std::vector<MatrixAccess> accesses(bool operand, bool rows) {
    const int bits = fragment_.bits();
    const bool bit_matrix = fragment_.number == Number::kBits;
    if (bits >= 32 && !bit_matrix)
      by_registers(!operand);
    else if (bits == 8 && !along_registers())
      by_elements();
    else if (operand && rows)
      by_rows(bits == 16 ? 4 : 2);
    else
      by_words();
    return std::move(accesses_);
  }

 private:
  // A place in memory, in bytes behind the beginning of its row there.
  MatrixAccess::Offset at(int lane, int element) const {
    Step s = fragment_.place(lane, element);
    if (by_columns_) s = s.transposed();
    return {s.row, static_cast<uint8_t>(s.column * fragment_.bits() / 8)};
  }
  // Are the elements of a register neighbours in memory?
  bool along_registers() const {
    return fragment_.per_register() == 1 ||
           (by_columns_ ? fragment_.place(0, 1).row
                        : fragment_.place(0, 1).column) != 0;
  }
  int first_element(int r) const {
    return r % fragment_.registers() * fragment_.per_register();
  }

  MatrixAccess& add(int bytes) {
    accesses_.emplace_back().bytes = static_cast<uint8_t>(bytes);
    return accesses_.back();
  }
  // The part of a register, and of those that hold the same.
  void add_piece(MatrixAccess& access, int r, int lane, int bit, int from,
                 int offset, int bytes) const {
    for (; r < registers_; r += fragment_.registers())
      access.pieces.push_back({uint8_t(r), uint8_t(lane), uint8_t(bit),
                               uint8_t(from), uint8_t(offset), uint8_t(bytes)});
  }

  // Each lane its own; two registers at once if they are neighbours.
  void by_registers(bool in_pairs) {
    const int bytes = fragment_.bits() / 8;
    for (int r = 0; r < fragment_.registers(); ++r) {
      const bool pair =
          in_pairs && at(0, r).bytes + bytes == at(0, r + 1).bytes;
      MatrixAccess& access = add(pair ? 2 * bytes : bytes);
      for (int l = 0; l < kLanes; ++l) {
        access.offset[l] = at(l, r);
        for (int k = 0; k <= pair; ++k)
          add_piece(access, r + k, l, 0, l, k * bytes, bytes);
      }
      r += pair;
    }
  }

  void by_elements() {
    for (int e = 0; e < fragment_.registers() * fragment_.per_register(); ++e) {
      MatrixAccess& access = add(1);
      for (int l = 0; l < kLanes; ++l) {
        access.offset[l] = at(l, e);
        add_piece(access, e / fragment_.per_register(), l,
                  e % fragment_.per_register() * 8, l, 0, 1);
      }
    }
  }

  // Each register is 8 rows of 16 bytes, in memory. What lies across there is
  // loaded along, and exchanged between lanes.
  void add_tile(MatrixAccess& access, int r, int first_lane, int lanes_a_row) {
    const MatrixAccess::Offset begin = at(0, first_element(r));
    const int bytes = access.bytes;
    for (int l = 0; l < 8 * lanes_a_row; ++l)
      access.offset[first_lane + l] = {
          uint8_t(begin.rows + l / lanes_a_row),
          uint8_t(begin.bytes + l % lanes_a_row * bytes)};
    const int width = along_registers() ? 32 : fragment_.bits();
    for (int l = 0; l < kLanes; ++l)
      for (int bit = 0; bit < 32; bit += width) {
        const int element = bit / std::min(width, fragment_.bits());
        const MatrixAccess::Offset place = at(l, first_element(r) + element);
        const int from = (place.rows - begin.rows) * lanes_a_row +
                         (place.bytes - begin.bytes) / bytes;
        add_piece(access, r, l, bit, first_lane + from,
                  (place.bytes - begin.bytes) % bytes, width / 8);
      }
  }
  void by_words() {
    for (int r = 0; r < fragment_.registers(); ++r) add_tile(add(4), r, 0, 4);
  }
  void by_rows(int most) {
    const int together = std::min(most, fragment_.registers());
    for (int r = 0; r < fragment_.registers(); r += together) {
      MatrixAccess& access = add(16);
      access.by_rows = true;
      access.lanes = together == 4 ? kAllLanes : (1u << 8 * together) - 1;
      for (int k = 0; k < together; ++k) add_tile(access, r + k, 8 * k, 1);
    }
  }

  const Fragment& fragment_;
  const int registers_;
  const bool by_columns_;
  std::vector<MatrixAccess> accesses_;
};

int bits_in_memory(Number number) {
  return number == Number::kBits ? 1 : bits_of(number);
}

void plan_wmma(const Statement& s, Matrix& matrix) {
  int m = 0, n = 0, k = 0;
  for (const std::string& part : s.op)
    if (std::sscanf(part.c_str(), "m%dn%dk%d", &m, &n, &k) == 3) break;
  const Number number = number_of(s.op.back());
  if (number == Number::kBits) k /= 32;
  const char which = s.op.at(2)[0];  // a, b, c or d
  const Fragment fragment = product_fragment(which, number, m, n, k);
  const bool by_columns = s.has("col");
  const Operand& registers = s.operands.at(which == 'd');
  Plan plan(fragment, static_cast<int>(registers.list.size()), by_columns);
  matrix.accesses = plan.accesses(which == 'a' || which == 'b',
                                  space_of(s) == Space::kShared);
  matrix.element_bits = bits_in_memory(number);
  matrix.row_elements = (by_columns ? fragment.rows : fragment.columns) *
                        fragment.bits() / matrix.element_bits;
  matrix.a = matrix.d = fragment;
}

}  // namespace

Handler matrix_memory_handler(const Statement& s, Matrix& matrix) {
  if (s.name() == "movmatrix") return transpose;
  const bool stores = s.operands.front().address;
  if (stores) matrix.stored = s.operands.at(1).list.size();
  if (s.name() == "wmma") {
    plan_wmma(s, matrix);
  } else {
    const int count = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
    matrix.accesses = {rows_of(count, s.has("trans"))};
  }
  return stores ? store : load;
}

}  // namespace simt
