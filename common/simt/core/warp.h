// A warp as instructions and observers see it: 32 lanes, their registers and
// stacks. Which of them run, and when, is the business of machine/.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "common/simt/core/code.h"

namespace simt {

constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;

// Of a mask, that has a bit for each lane.
inline int first_lane(uint32_t mask) { return std::countr_zero(mask); }
inline uint32_t lane_count(uint32_t mask) { return std::popcount(mask); }

// The lanes of `mask` whose value is this.
template <class T>
inline uint32_t lanes_with(T value, const T* values, uint32_t mask) {
  uint32_t same = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (values[first_lane(rest)] == value) same |= rest & -rest;
  return same;
}

std::string hex_mask(uint32_t mask);

struct Block;

// What lanes hand to one another in a shuffle, vote, match or reduction.
struct Exchange {
  uint64_t a[kLanes] = {};  // 0 of lanes without a thread, as on a GPU
  uint32_t b[kLanes], c[kLanes];
  uint32_t predicate = 0;
  uint32_t members = 0;
  uint32_t unanswered = 0;  // lanes that have asked one which is no member
};

// What an instruction that a wait may consist of came to.
struct Poll {
  bool unchanged = false;  // it changed nothing in memory
  bool slept = false;      // it asks to be let alone for a while
  uint64_t outcome = 0;    // the same number when it finds the same again

  void found(uint64_t value) {
    unchanged = true;
    outcome = outcome * 0x9e3779b97f4a7c15 + value;
  }
};

// Of a call whose function allocates local memory while it runs: how far each
// lane's reaches. All of it is a multiple of 16.
struct StackTops {
  static constexpr uint32_t kAlignment = 16;

  explicit StackTops(uint32_t begin) : begin(begin) {
    std::fill_n(of, kLanes, begin);
  }
  uint32_t end() const { return *std::max_element(of, of + kLanes); }

  const uint32_t begin;  // behind the function's variables
  uint32_t of[kLanes];
};

// A call's variables in the lanes' stacks: what addresses may mean, here or in
// what it calls.
struct Variables {
  uint32_t begin = 0, end = 0;
  const Variables* caller = nullptr;
  SourceLine called_at;  // or what called that, if nobody knows
};

struct Warp {
  Warp(Block& block, uint32_t index, uint32_t threads)
      : block(&block), index(index), threads(threads) {}
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  uint8_t* registers = nullptr;  // of the running call
  uint32_t carry = 0;  // the condition code register CC.CF, a bit per lane
  Block* const block;
  const uint32_t index;     // within its block
  const uint32_t threads;   // the lanes that have a thread
  uint32_t live = 0;        // those that have not exited
  uint32_t stack_base = 0;  // local memory of the running call: from here
  uint32_t stack_end = 0;   //   to here, in each lane's stack
  StackTops* stack_tops = nullptr;  // null: its function allocates none
  const Variables* variables = nullptr;
  uint64_t issued = 0;  // instructions so far
  // How far the clock is ahead of them, and by how much more after each look;
  // and how often a wait has looked.
  uint64_t clock_ahead = 0, clock_step = 0, clock_looks = 0;
  uint64_t clock_stood = 0;  // what it has shown since it stands; 0: no look
  bool tainted = false;      // some register holds what nobody has written
  // Of cp.async, and of cp.async.bulk, that each lane has closed.
  uint32_t copy_groups[kLanes] = {}, bulk_groups[kLanes] = {};
  // Of wgmma: groups that are closed, products begun, and whether there was a
  // fence before them.
  uint32_t product_groups = 0;
  uint64_t products_begun = 0;
  bool fenced_products = false;
  Poll poll;
  Exchange exchange;
  std::vector<uint8_t> stacks;  // of all lanes

  // A byte of a lane's local memory. 16 neighbouring bytes stay together.
  uint8_t* stack(int lane, uint64_t offset) {
    return stacks.data() + stack_offset(lane, offset);
  }
  static uint64_t stack_offset(int lane, uint64_t offset) {
    return ((offset >> 4) * kLanes + lane) * 16 + (offset & 15);
  }
};

template <class T>
inline T* lanes(Warp& warp, Place place) {
  return reinterpret_cast<T*>(warp.registers + place);
}

}  // namespace simt
