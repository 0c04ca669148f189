// A launch: its grid, and the blocks that are being run.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/launch.h"
#include "common/simt/observers.h"
#include "common/simt/program.h"
#include "common/simt/report.h"
#include "common/simt/warp.h"

namespace simt {

// Bytes that begin at a multiple of 128, as shared memory does.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t n) : lines_((n + 127) / 128), size_(n) {}
  uint8_t* data() { return reinterpret_cast<uint8_t*>(lines_.data()); }
  const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(lines_.data());
  }
  size_t size() const { return size_; }

 private:
  struct alignas(128) Line {
    uint8_t bytes[128];
  };
  std::vector<Line> lines_;
  size_t size_;
};

// What all blocks of a launch share.
struct Grid {
  Grid(Kernel& kernel, const LaunchShape& shape, void** args);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Kernel& kernel;
  const Program& program;
  const LaunchShape shape;
  const uint32_t threads_per_block;
  const uint64_t blocks;
  int threads = 1;  // of the host
  uint32_t multiprocessors = 1;
  AlignedBytes fixed;       // the program's, as they lie before registers
  AlignedBytes parameters;  // as the caller passed them
  uint64_t workspace = 0;   // of a grid-wide barrier; 0: none
  // Counts whatever may end somebody's wait.
  std::atomic<uint64_t> progress{0};

  size_t shared_bytes() const;
  uint32_t warps() const { return (threads_per_block + kLanes - 1) / kLanes; }
};

// A fault with its place, for the report.
struct PlacedFault : KernelFault {
  PlacedFault(int code, const Finding& finding)
      : KernelFault(code, finding.text()), finding(finding) {}
  Finding finding;
};

// The allocation that each memory instruction touched last.
class AllocationCache {
 public:
  struct Range {
    uint64_t begin = 0, end = 0;  // holds no access
    uint64_t distance = 0;        // to where the executor finds it
  };
  Range& of(uint32_t site) { return ranges_[site % kSlots]; }
  void clear() { ranges_.fill({}); }

 private:
  static constexpr int kSlots = 64;
  std::array<Range, kSlots> ranges_;
};

struct Barrier {
  uint32_t arrived = 0;   // threads that wait here, or were counted
  uint32_t expected = 0;  // so many are needed; 0: all that have not exited
  uint32_t count = 0;     // bar.red: lanes whose predicate was true,
  uint32_t lanes = 0;     //   of so many
};

struct Block {
  Block(Grid& grid, Observers observers);

  enum class End { kFinished, kSpinning };
  void start(uint64_t number);
  // Until the block has ended or does nothing but spin. Throws KernelFault
  // when it can never end.
  End run();
  bool wake();
  bool stuck() const;
  // That nobody can go on, by the place where the first of those waits.
  Finding stuck(Path::State state, const std::string& kind,
                const std::string& what) const;

  // Opens a barrier if everybody has come: when somebody came, or exited.
  void check_barrier(uint32_t number);
  void check_barriers();

  Grid* const grid;
  uint64_t number = 0;  // in launch order
  uint32_t id[3] = {};
  AlignedBytes shared;
  AllocationCache ranges;
  Observers observers;
  std::unique_ptr<BlockChecks> checks;  // null: nobody checks
  static constexpr int kBarriers = 16;
  Barrier barriers[kBarriers];
  uint32_t awaited = 0;  // a bit for each barrier that somebody came to
  uint32_t live = 0;     // threads that have not exited
  uint32_t results_count = 0, results_lanes = 0;  // of the last bar.red
  std::vector<std::unique_ptr<Warp>> warps;
  // Of all its warps: one that ends leaves its registers in the cache.
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame*> free_frames;

 private:
  [[noreturn]] void deadlock();
  bool any_waits(Path::State state) const;
  std::string describe_waiting() const;
};

}  // namespace simt
