// A launch as its blocks see it: shape, code, parameters.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/simt/core/aligned_bytes.h"
#include "common/simt/core/program.h"
#include "common/simt/core/warp.h"

namespace simt {

// Who else may end a grid's wait: kernels of other devices, and the host, which
// goes on to launch them.
class Others {
 public:
  // Counts what may end a wait: memory changed, a block ended.
  virtual std::atomic<uint64_t>& changes() = 0;
  // Somebody else's turn, until memory is no longer as it was when `changes`
  // were counted. False: nobody is left who could change it.
  virtual bool await_change(uint64_t changes) = 0;
  // The same for a while: the grid may go on by itself. Whether a thread of the
  // host waits, too.
  virtual bool pause(std::chrono::microseconds time) = 0;

 protected:
  ~Others() = default;
};

class Undo;         // memory/undo.h
class DeviceCalls;  // core/device_calls.h
class Kin;          // observe/kin.h

// What a launch is among all that streams do (observe/overlaps.h).
struct Operation;

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  size_t dynamic_shared = 0;
  bool cooperative = false;
  int device = 0;
  Others* others = nullptr;  // null: there is one device
  unsigned cluster[3] = {1, 1, 1};
  bool explicit_cluster = false;   // the program said so
  bool begins_early = false;       // before the kernel in front is done
  Operation* operation = nullptr;  // null: nobody wants to know
  // Of a grid that may launch others, or that another has launched; else null.
  DeviceCalls* calls = nullptr;
  Kin* kin = nullptr;
  uint32_t member = 0;  // which of its kin it is

  uint32_t cluster_blocks() const {
    return cluster[0] * cluster[1] * cluster[2];
  }
};

// Of blocks in a grid, and of whatever else is numbered x first.
inline std::array<uint32_t, 3> coordinates(uint64_t number,
                                           const unsigned (&size)[3]) {
  return {static_cast<uint32_t>(number % size[0]),
          static_cast<uint32_t>(number / size[0] % size[1]),
          static_cast<uint32_t>(number / size[0] / size[1])};
}

// What all blocks of a launch share.
struct Grid {
  const Kernel& kernel;
  const Program& program;
  const LaunchShape shape;
  const uint32_t threads_per_block;
  const uint64_t blocks;
  int threads = 1;       // of the host
  Undo* undo = nullptr;  // null: the launch will not be taken back
  // It will be if loads touch what is stored: they are not looked at one by
  // one.
  bool loads_apart = false;
  uint32_t multiprocessors = 1;
  AlignedBytes fixed;       // the program's, as they lie before registers
  AlignedBytes parameters;  // as the caller passed them
  uint64_t workspace = 0;   // of a grid-wide barrier; 0: none
  // Counts what may end another block's wait: memory changed, a block ended.
  std::atomic<uint64_t>& changes;
  double patience = 0;       // SIMT_PATIENCE
  bool takes_turns = false;  // SIMT_ORDER=turns

  Grid(const Kernel& kernel, const Program& program, const LaunchShape& shape)
      : kernel(kernel),
        program(program),
        shape(shape),
        threads_per_block(shape.block[0] * shape.block[1] * shape.block[2]),
        blocks(uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2]),
        fixed(program.fixed.size() * sizeof(Program::Fixed)),
        parameters(program.parameter_bytes),
        changes(shape.others ? shape.others->changes() : own_changes_) {}
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  // The number of the block that has a rank in a cluster.
  uint64_t block_at(uint64_t cluster, uint32_t rank) const {
    const unsigned(&size)[3] = shape.cluster;
    const unsigned clusters[3] = {shape.grid[0] / size[0],
                                  shape.grid[1] / size[1],
                                  shape.grid[2] / size[2]};
    const auto outer = coordinates(cluster, clusters);
    const auto inner = coordinates(rank, size);
    uint64_t number = 0;
    for (int i = 2; i >= 0; --i)
      number = number * shape.grid[i] + outer[i] * size[i] + inner[i];
    return number;
  }
  bool same_cluster(uint64_t one, uint64_t other) const {
    const auto a = coordinates(one, shape.grid);
    const auto b = coordinates(other, shape.grid);
    bool same = true;
    for (int i = 0; i < 3; ++i)
      same &= a[i] / shape.cluster[i] == b[i] / shape.cluster[i];
    return same;
  }

  uint32_t warps() const { return (threads_per_block + kLanes - 1) / kLanes; }
  // The dynamic part lies behind the static one, aligned for any access and as
  // its arrays are declared.
  uint32_t dynamic_shared_begin() const {
    return behind_static(program.dynamic_alignment);
  }
  size_t shared_end() const {
    if (shape.dynamic_shared == 0) return program.static_shared;
    return dynamic_shared_begin() + shape.dynamic_shared;
  }
  // A GPU hands out whole words and more. libcu++ counts on it: its atomics of
  // one or two bytes take the word that theirs lie in.
  size_t shared_words_end() const { return (shared_end() + 3) / 4 * 4; }
  // The part that the system has for itself, in programs that ask where. A GPU
  // has it in front of theirs; here it lies apart, so that nobody runs into it.
  static constexpr uint32_t kReservedShared = 1024;
  bool reserves_shared() const { return !program.reserved_shared.empty(); }
  uint32_t reserved_begin() const {
    return (shared_end() / kReservedShared + 2) * kReservedShared;
  }
  size_t all_shared() const {
    return reserves_shared() ? reserved_begin() + kReservedShared
                             : shared_words_end();
  }
  // As a program is told: without what such an alignment leaves free.
  size_t shared_bytes() const {
    if (shape.dynamic_shared == 0) return program.static_shared;
    return behind_static(Program::kLeastAlignment) + shape.dynamic_shared;
  }

 private:
  uint32_t behind_static(uint32_t alignment) const {
    return (program.static_shared + alignment - 1) / alignment * alignment;
  }

  std::atomic<uint64_t> own_changes_{0};
};

}  // namespace simt
