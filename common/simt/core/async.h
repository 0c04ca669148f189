// Copies that go on beside the threads that asked for them: cp.async, and
// cp.async.bulk. And products that do: wgmma.
//
// Nobody may look at what they write before somebody has waited for them. So
// that this shows, each is made as late as it can be: when it is waited for.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "common/simt/core/access.h"

namespace simt {

// What a bulk copy moves of a tensor: in shared memory a box, row behind row,
// and in global memory those parts of its rows that the tensor has.
struct TensorBox {
  struct Run {
    uint64_t address;  // in global memory, of bytes side by side
    uint8_t* base;     // address 0 in the host's memory
    uint32_t bytes;
    uint32_t at;  // in the box, before it is swizzled
  };
  std::vector<Run> runs;
  uint64_t begin = ~0ull, end = 0;  // of all runs
  // Chunks of 16 bytes change places with others near them, by the number of
  // the 128 bytes in which they lie: these bits of it.
  uint8_t swizzle = 0;
  // What a box has where the tensor ends: these bytes, again and again.
  std::vector<uint8_t> filler;
  uint32_t rows = 1, row_bytes = 0;
  uint32_t pitch = 0;   // of rows in shared memory; nobody touches what is left
  bool rounds = false;  // what is loaded, to tf32

  uint32_t bytes() const { return rows * row_bytes; }
  bool has_gaps() const { return pitch != row_bytes; }
  uint64_t swizzled(uint64_t at) const { return at ^ (at >> 7 & swizzle) << 4; }

  // f(where, bytes) for what it has of shared memory, if it begins at `box`.
  template <class F>
  void each_shared(uint64_t box, F f) const {
    if (!has_gaps()) return f(box, bytes());
    for (uint64_t row = box; row < box + rows * pitch; row += pitch)
      for (uint32_t k = 0; k < row_bytes; k += 16) f(swizzled(row + k), 16u);
  }

  // f(run, how far in it, where in shared memory, bytes) for what lies together
  // in both memories, if the box begins at `box`.
  template <class F>
  void each_chunk(uint64_t box, F f) const {
    for (const Run& run : runs) {
      for (uint32_t done = 0; done < run.bytes;) {
        const uint64_t at = box + run.at + done;
        const uint32_t rest = run.bytes - done;
        const uint32_t bytes =
            swizzle ? std::min<uint32_t>(rest, 16 - at % 16) : rest;
        f(run, done, swizzled(at), bytes);
        done += bytes;
      }
    }
  }
};

// One instruction of a warp.
struct AsyncCopy {
  // What it belongs to: groups of cp.async, groups of cp.async.bulk, a barrier.
  enum class Of : uint8_t { kGroup, kBulkGroup, kBarrier };
  // Makes one thing of what is there and what comes: cp.reduce.
  using Reduction = void (*)(uint8_t* to, const uint8_t* from, Update update);

  AsyncCopy(Warp& warp, const Instruction& ins, const Access& to)
      : warp(&warp), ins(&ins), to(to) {}

  Warp* const warp;
  const Instruction* const ins;
  Access to;                    // of lanes whose copy has not been made
  std::optional<Access> from;   // fewer bytes than `to`, or none: zeros follow
  uint64_t number = 0;          // so many had begun before, in the block
  uint32_t group[kLanes] = {};  // so many had its lane closed before
  bool bypasses = false;        // L1 does not keep what it reads
  Of of = Of::kGroup;
  std::optional<Access> barrier;              // which is told when it is made
  std::optional<std::vector<uint8_t>> taken;  // the source may change since
  Reduction reduction = nullptr;              // of elements,
  uint32_t element_bytes = 0;                 //   each so large
  // Of a tensor: what its access of global memory consists of.
  std::shared_ptr<const TensorBox> box;

  bool is_bulk() const { return of != Of::kGroup; }
  uint32_t bytes() const { return box ? box->bytes() : to.bytes; }

  // f(access) for each part of one of its accesses.
  template <class F>
  void each_part(const Access& a, F f) const {
    if (!box || (a.space == Space::kShared && !box->has_gaps())) return f(a);
    const auto tell = [&](uint64_t address, uint8_t* base, uint32_t bytes) {
      Access part(a.operand, bytes, a.use);
      std::fill_n(part.address, kLanes, address);
      part.base = base;
      part.mask = a.mask;
      part.space = a.space;
      part.owner = a.owner;
      f(part);
    };
    if (a.space == Space::kShared)
      box->each_shared(a.address[a.mask ? std::countr_zero(a.mask) : 0],
                       [&](uint64_t address, uint32_t bytes) {
                         tell(address, a.base, bytes);
                       });
    else
      for (const TensorBox::Run& run : box->runs)
        tell(run.address, run.base, run.bytes);
  }

  // f(from, to, bytes) for what a lane's copy moves side by side.
  template <class F>
  void each_move(int lane, F f) const {
    if (!from) return;
    if (!box) return f(from->address[lane], to.address[lane], from->bytes);
    const bool loads = to.space == Space::kShared;
    box->each_chunk((loads ? to : *from).address[lane],
                    [&](const TensorBox::Run& run, uint32_t done, uint64_t at,
                        uint32_t bytes) {
                      const uint64_t there = run.address + done;
                      loads ? f(there, at, bytes) : f(at, there, bytes);
                    });
  }
};

// A wgmma.mma_async of one warp. What it computes is there at once; but nobody
// may look at it yet, or change what it reads, before some warp of the
// warpgroup has waited for it.
struct AsyncProduct {
  // 16 bytes of shared memory, and the rows of A or columns of B in them.
  struct Chunk {
    uint32_t at;
    bool of_a;
    uint8_t first, count;
  };

  Warp* warp;
  const Instruction* ins;
  uint32_t group;             // so many its warp had closed before
  uint64_t number;            // so many its warp had begun before
  bool accumulates;           // what its registers hold is an addend
  std::vector<Chunk> chunks;  // that it reads, by their addresses
  struct Wait {
    uint32_t warp;
    uint64_t time;  // as the checker counts it
  };
  std::vector<Wait> waits;  // of warps that have waited for it
};

// Lanes that arrive at barriers in shared memory once their copies are made.
struct AsyncArrival {
  Warp* warp;
  const Instruction* ins;
  Access at;        // lanes that have not arrived
  uint64_t behind;  // so many copies had begun
};

struct AsyncCopies {
  std::list<AsyncCopy> pending;  // in the order in which they began
  std::list<AsyncArrival> arrivals;
  std::list<AsyncProduct> products;
  uint64_t begun = 0;

  bool empty() const {
    return pending.empty() && arrivals.empty() && products.empty();
  }
  void clear() {
    pending.clear();
    arrivals.clear();
    products.clear();
  }
};

}  // namespace simt
