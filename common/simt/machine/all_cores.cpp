// Looks through the instructions of a kernel.
#include "common/simt/machine/all_cores.h"

#include <sched.h>

#include <algorithm>
#include <set>

#include "common/simt/core/settings.h"
#include "common/simt/decode/decode.h"
#include "common/simt/isa/collectives.h"
#include "common/simt/observe/overlaps.h"

namespace simt {
namespace {

// Threads of a grid from which on it may be worth to wake others for it; so
// many when nobody knows yet how long its kernel takes, or it took so long.
constexpr uint64_t kManyThreads = 1 << 16, kManyUnknown = 1 << 12;
constexpr std::chrono::milliseconds kLongTime{10};
// Each host thread keeps 16 MiB of what it has seen.
constexpr int kMostThreads = 32;

bool is_plain_access(const Instruction& ins) {
  return ins.strength == Strength::kWeak && ins.guess == Guess::kNone;
}

bool is_in_shared(const Instruction& ins) {
  return ins.address_count == 1 && ins.address().space == Space::kShared;
}

// A call by a pointer leads to a function of the program. A failed assertion
// ends the launch, which is then run once more.
bool stays_inside(const Call& call) {
  static const Handler kAssertion = system_call("__assertfail");
  return !call.system || call.system == kAssertion;
}

Reach reach_of(const Instruction& ins) {
  static const std::set<std::string> kAccesses = {"ld", "ldu", "st"};
  static const std::set<std::string> kAtomics = {"atom", "red"};
  static const std::set<std::string> kFences = {"membar", "fence", "nanosleep"};
  static const std::set<std::string> kOthers = {
      "mov",      "alloca",    "stacksave", "stackrestore", "isspacep",
      "prefetch", "prefetchu", "trap",      "wmma",         "tex",
      "tld4",     "mma",       "ldmatrix",  "stmatrix",     "movmatrix"};
  if (!ins.statement) return Reach::kPlain;  // the end of a function
  if (ins.call)
    return stays_inside(*ins.call) ? Reach::kPlain : Reach::kOutside;
  const std::string& op = ins.statement->name();
  switch (ins.kind) {
    case Kind::kBranch:
    case Kind::kTable:
    case Kind::kReturn:
    case Kind::kExit:
    case Kind::kBarrier:
    case Kind::kArrive:
    case Kind::kCollective:
      return Reach::kPlain;
    case Kind::kPlain:
    case Kind::kMatrix:
    case Kind::kPoll:
      if (reads_clock(ins) || ins.statement->has("async"))
        return Reach::kOutside;
      if (ins.pure || ins.commutes || kOthers.contains(op) ||
          (kAccesses.contains(op) && is_plain_access(ins)) ||
          (kAtomics.contains(op) && is_in_shared(ins)))
        return Reach::kPlain;
      return kAccesses.contains(op) || kAtomics.contains(op) ||
                     kFences.contains(op)
                 ? Reach::kMemory
                 : Reach::kOutside;
    default:
      return Reach::kOutside;
  }
}

Reach reach_of(const Program& program) {
  Reach most = Reach::kPlain;
  for (const auto& [name, function] : program.functions)
    for (const Instruction& ins : function.code)
      most = std::max(most, reach_of(ins));
  return most;
}

bool may_take_long(const Kernel& kernel, uint64_t threads) {
  const bool long_before =
      kernel.took ? kernel.took >= kLongTime : threads >= kManyUnknown;
  return threads >= kManyThreads || long_before;
}

uint64_t blocks_of(const LaunchShape& shape) {
  return uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

}  // namespace

int cores_for(const LaunchShape& shape) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  const int cores = std::clamp(known ? CPU_COUNT(&mine) : 1, 1, kMostThreads);
  return static_cast<int>(std::min<uint64_t>(cores, blocks_of(shape)));
}

Way way_of(Kernel& kernel, const LaunchShape& shape) {
  const uint64_t threads =
      blocks_of(shape) * shape.block[0] * shape.block[1] * shape.block[2];
  // First of all what is told at once: most launches are small.
  if (kernel.runs_alone || !may_take_long(kernel, threads) ||
      shape.cooperative || shape.cluster_blocks() > 1 || shape.others ||
      shape.kin || settings::host_threads() || !settings::checks() ||
      settings::trace_path() || settings::backwards() || settings::turns())
    return Way::kAlone;
  if (!kernel.reach) kernel.reach = reach_of(program_of(kernel));
  if (kernel.reach == Reach::kOutside) return Way::kAlone;
  return kernel.reach == Reach::kPlain && cores_for(shape) > 1 ? Way::kSpread
                                                               : Way::kRepeated;
}

}  // namespace simt
