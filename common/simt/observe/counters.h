// Counts what Nsight Compute counts, instruction by instruction.
//
// The definitions are the hardware's, as an H200 answered them for the kernels
// in tests/parity. What ptxas does after us is not in the PTX: decode/ptxas.h
// guesses which branches it saves; what else it joins, unrolls or moves
// differs, as tests/parity/exceptions.txt lists.
#pragma once
#include <cstdint>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/core/code.h"
#include "common/simt/memory/sector_set.h"

namespace simt {

struct Program;

// What an instruction did to one kind of memory.
struct MemoryCounts {
  uint64_t requests = 0;    // one per warp and instruction
  uint64_t sectors = 0;     // global: 32-byte blocks touched
  uint64_t used_bytes = 0;  // global: distinct bytes asked for
  uint64_t least_sectors =
      0;                    // global: those that would hold a request's bytes
  uint64_t wavefronts = 0;  // shared: passes through the 32 banks
  uint64_t of_rows = 0;     // shared: wavefronts of ldmatrix and stmatrix
  uint64_t conflicts = 0;   // shared: those that better addresses would save

  void add(const MemoryCounts& other);
};

struct InstructionCounts {
  uint64_t issued = 0;  // by a warp
  uint64_t lanes = 0;   // that were active in them
  uint64_t branches = 0, divergent = 0;
  uint64_t predicated = 0;  // branches that ptxas makes none
  uint64_t machine_issued = 0, machine_lanes = 0;  // what they skip here
  uint64_t barriers = 0;                           // warps that came to one
  uint64_t system_fences = 0;  // by a warp: each sends a store
  MemoryCounts global, shared;
  MemoryCounts words;  // global: loads before atomics of 16 bits

  void add(const InstructionCounts& other);
};

// One host thread's counts of a launch, by Instruction::site.
class Counters {
 public:
  explicit Counters(size_t sites) : issues_(sites), sites_(sites) {}

  void issue(const Instruction& ins, uint32_t active) {
    Issues& c = issues_[ins.site];
    ++c.times;
    c.lanes += std::popcount(active);
  }
  void branch(const Instruction& ins, uint32_t active, uint32_t taken) {
    InstructionCounts& c = sites_[ins.site];
    if (ins.predicated) return predicate(ins, active, taken, c);
    ++c.branches;
    if (taken != 0 && taken != active) ++c.divergent;
  }
  void barrier(const Instruction& ins) { ++sites_[ins.site].barriers; }
  void fence(const Instruction& ins) {
    sites_[ins.site].system_fences += ins.for_system;
  }
  void access(const Instruction& ins, const Access& access);
  // Of what was read of a kernel's parameters, by their addresses in them.
  void parameters(const Instruction& ins, const Access& access);
  void copy(const AsyncCopy& copy);

  void add(Counters&& other);
  const std::vector<InstructionCounts>& sites() const { return sites_; }
  // Of each run of instructions only the first was counted: counts them all.
  // Before that, sites() lack what was issued.
  void spread_runs(const Program& program);
  // Distinct 32-byte sectors of global memory that were touched at all.
  uint64_t sectors() const;

 private:
  // All of the warp goes through both sides; a side that here nobody goes
  // through is issued there all the same.
  static void predicate(const Instruction& ins, uint32_t active, uint32_t taken,
                        InstructionCounts& c) {
    ++c.predicated;
    const int all = taken == active, none = taken == 0;
    const int jump = std::popcount(taken),
              stay = std::popcount(active & ~taken);
    c.issued += all * ins.skips_if_taken + none * ins.skips_if_not;
    c.lanes += jump * ins.skips_if_taken + stay * ins.skips_if_not;
    c.machine_issued += all * ins.machine_if_taken + none * ins.machine_if_not;
    c.machine_lanes += jump * ins.machine_if_taken + stay * ins.machine_if_not;
  }

  void touch(const Access& access);
  void touch_bulk(const AsyncCopy& copy);

  struct Issues {
    uint64_t times = 0, lanes = 0;
  };
  std::vector<Issues> issues_;  // by themselves: they are counted most
  std::vector<InstructionCounts> sites_;
  SectorSet touched_;
};

}  // namespace simt
