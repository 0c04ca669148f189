// Looks through the instructions of a kernel.
#include "common/simt/machine/all_cores.h"

#include <sched.h>

#include <algorithm>
#include <set>

#include "common/simt/core/settings.h"
#include "common/simt/decode/decode.h"
#include "common/simt/observe/overlaps.h"

namespace simt {
namespace {

// Threads of a grid from which on it is worth to wake others for it, and the
// time that a smaller one must have taken before.
constexpr uint64_t kManyThreads = 1 << 16;
constexpr std::chrono::milliseconds kLongTime{50};
// Each host thread keeps 16 MiB of what it has seen.
constexpr int kMostThreads = 32;

bool reads_clock(const Statement& s) {
  return std::any_of(
      s.operands.begin(), s.operands.end(), [](const Operand& o) {
        return o.text.starts_with("%clock") || o.text.starts_with("%global");
      });
}

bool is_plain_access(const Instruction& ins) {
  return ins.strength == Strength::kWeak && ins.guess == Guess::kNone;
}

bool is_in_shared(const Instruction& ins) {
  return ins.address_count == 1 && ins.address().space == Space::kShared;
}

// Does it concern its own block alone, but for the bytes that plain loads and
// stores touch?
bool stays_in_block(const Instruction& ins) {
  static const std::set<std::string> kAccesses = {"ld", "ldu", "st"};
  static const std::set<std::string> kAtomics = {"atom", "red"};
  static const std::set<std::string> kOthers = {
      "isspacep", "prefetch", "prefetchu", "trap",     "wmma",
      "mma",      "ldmatrix", "stmatrix",  "movmatrix"};
  if (!ins.statement) return true;  // the end of a function
  const std::string& op = ins.statement->name();
  switch (ins.kind) {
    case Kind::kBranch:
    case Kind::kTable:
    case Kind::kReturn:
    case Kind::kExit:
    case Kind::kBarrier:
    case Kind::kArrive:
    case Kind::kCollective:
      return true;
    case Kind::kCall:
      return ins.call && ins.call->callee;
    case Kind::kPlain:
    case Kind::kMatrix:
      if (reads_clock(*ins.statement)) return false;
      return ins.pure || kOthers.contains(op) ||
             (kAccesses.contains(op) && is_plain_access(ins)) ||
             (kAtomics.contains(op) && is_in_shared(ins));
    default:
      return false;
  }
}

bool qualifies(const Program& program) {
  return std::all_of(
      program.functions.begin(), program.functions.end(), [](const auto& f) {
        return std::ranges::all_of(f.second.code, stays_in_block);
      });
}

int cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  return std::clamp(known ? CPU_COUNT(&mine) : 1, 1, kMostThreads);
}

}  // namespace

int threads_for(Kernel& kernel, const LaunchShape& shape) {
  const uint64_t blocks =
      uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  const uint64_t threads =
      blocks * shape.block[0] * shape.block[1] * shape.block[2];
  // First of all what is told at once: most launches are small.
  if (kernel.meets_itself ||
      (threads < kManyThreads && kernel.took < kLongTime) ||
      shape.cooperative || shape.cluster_blocks() > 1 || shape.others ||
      shape.kin || settings::host_threads() || !settings::checks() ||
      settings::trace_path() || settings::backwards())
    return 1;
  const int most = static_cast<int>(std::min<uint64_t>(cores(), blocks));
  if (most == 1) return 1;
  if (!kernel.spreads) kernel.spreads = qualifies(program_of(kernel));
  return *kernel.spreads ? most : 1;
}

}  // namespace simt
