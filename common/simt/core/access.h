// One memory instruction of a warp, with the places its lanes mean: what
// memory.cpp carries out and the observers look at.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "common/simt/core/lanes.h"

namespace simt {

enum class Use : uint8_t { kLoad, kStore, kAtomic };

inline const char* verb(Use use) {
  return use == Use::kLoad ? "read" : use == Use::kStore ? "write" : "atomic";
}

// Is all of [address, address + bytes) in [begin, end)? No sum wraps around.
inline bool is_inside(uint64_t address, uint64_t bytes, uint64_t begin,
                      uint64_t end) {
  return address >= begin && address <= end && bytes <= end - address;
}

// Of a matrix instruction: a part of what it moves between memory and
// registers.
struct Piece {
  uint8_t value;   // which of its registers
  uint8_t lane;    //   of which lane,
  uint8_t shift;   //   from which bit on
  uint8_t from;    // whose place in memory,
  uint8_t offset;  //   how many bytes behind it
  uint8_t bytes;
};

// What the machine does in one go for such an instruction.
struct MatrixAccess {
  uint8_t bytes = 0;     // a lane's, in memory
  uint32_t lanes = ~0u;  // that have a place there
  bool by_rows =
      false;  // as ldmatrix does it, eight rows of 16 bytes at a time
  // Where, from the address of the instruction on: so many times the distance
  // between rows, and so many bytes.
  struct Offset {
    uint8_t rows = 0, bytes = 0;
  };
  Offset offset[kLanes] = {};
  std::vector<Piece> pieces;
};

constexpr int kMatrixBytes = 16;  // the most that a lane accesses

struct Block;

struct Access {
  Access(const Address& operand, uint32_t bytes, Use use)
      : operand(operand), bytes(bytes), use(use) {}

  const Address& operand;  // of the instruction: where it goes
  const uint32_t bytes;    // a lane's
  const Use use;
  alignas(64) uint64_t address[kLanes];  // in its space; of lanes in `mask`
  uint8_t* base = nullptr;  // address 0 of the space, in the host's memory
  uint32_t mask = 0;
  Space space = Space::kGlobal;
  Block* owner = nullptr;  // of shared memory; null: the warp's own block
  bool dense = false;      // all 32 lanes, one behind the other from address[0]
  // The lanes that mean the same as the lane before them, and those that go on
  // where it ends; of lanes in `mask`, whatever it has become.
  uint32_t same = 0, next = 0;
  // Of a matrix: what becomes of the bytes; null: they are the lane's own.
  const MatrixAccess* matrix = nullptr;
  const uint64_t* displacement = nullptr;  // of each lane
  const uint8_t* staged = nullptr;         // to be stored, kMatrixBytes a lane

  template <class T>
  T* at(int lane) const {
    return reinterpret_cast<T*>(base + address[lane]);
  }

  // Fills in `same` and `next`.
  void compare_neighbours() {
    same = 0;
    next = dense ? kAllLanes - 1 : 0;
    if (dense) return;
    alignas(64) uint64_t step[kLanes];
    steps(step);
    same = lanes_where([](uint64_t s) { return s == 0; }, step) & ~1u;
    next = lanes_where([&](uint64_t s) { return s == bytes; }, step) & ~1u;
  }
  // From each lane's address to the next one's. Neighbours meet in registers: a
  // vector that is read beside where it was just written waits for the cache.
  void steps(uint64_t* step) const {
    using Four = uint64_t __attribute__((vector_size(32), may_alias));
    Four before = {};
    for (int l = 0; l < kLanes; l += 4) {
      const Four here = *reinterpret_cast<const Four*>(address + l);
      *reinterpret_cast<Four*>(step + l) =
          here - __builtin_shuffle(before, here, Four{3, 4, 5, 6});
      before = here;
    }
  }

  // All lanes within [begin, end)?
  bool is_within(uint64_t begin, uint64_t end) const {
    if (end - begin < bytes) return false;
    const uint64_t most = end - begin - bytes;
    if (dense)  // Both: the run may wrap around.
      return address[0] - begin <= most && address[kLanes - 1] - begin <= most;
    uint64_t outside = 0;
    for (uint64_t one : address) outside |= one - begin > most;
    return outside == 0;
  }

  // Do all lanes mean the same, also if some between them take no part?
  bool is_one_place() const { return (same | 1) == kAllLanes; }

  // Neighbouring lanes that together mean all of one stretch of memory. Of
  // those between them, some may not be in `mask` if all mean the same.
  struct Span {
    int first, lanes;
    uint64_t begin, end;
  };
  // f(span) for the lanes of `mask`, in order.
  template <class F>
  void each_span(F f) const {
    each_span(mask, f);
  }
  // For some of them.
  template <class F>
  void each_span(uint32_t lanes, F f) const {
    if (!is_one_place()) return each_span(lanes, same | next, f);
    if (!lanes) return;
    const int first = first_lane(lanes);
    f(Span{first, kLanes - std::countl_zero(lanes) - first, address[first],
           address[first] + bytes});
  }
  // Those that are one behind the other as `joined` says: of `same` and `next`.
  template <class F>
  void each_span(uint32_t lanes, uint32_t joined, F f) const {
    const uint32_t begins = lanes & ~(joined & lanes << 1);
    const uint64_t ends = uint64_t{begins | ~lanes} | 1ull << kLanes;
    for (uint32_t rest = begins; rest; rest &= rest - 1) {
      const int first = first_lane(rest);
      const int count = std::countr_zero(ends >> (first + 1)) + 1;
      f(Span{first, count, address[first], address[first + count - 1] + bytes});
    }
  }
};

}  // namespace simt
