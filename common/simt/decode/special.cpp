// Knows special registers by their names, and reads clocks.
#include "common/simt/decode/special.h"

#include <algorithm>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/core/grid.h"
#include "common/simt/decode/decode.h"
#include "common/simt/decode/forms.h"

namespace simt {
namespace {

// The clocks advance with the instructions of the warp: monotonic, the same in
// every run, and no measure of time. Who only waits for one to show some time
// would wait long: after a while each look at it takes a little longer.
template <class T, int first_bit>
void read_clock(Warp& warp, const Instruction& ins, uint32_t mask) {
  constexpr uint64_t kLooks = 32;
  if (!ins.waits_for_clock) {
    warp.clock_looks = warp.clock_step = 0;
  } else if (++warp.clock_looks > kLooks) {
    warp.clock_step += warp.clock_step / 16 + 1;
    warp.clock_ahead += warp.clock_step;
  }
  uint64_t time = warp.issued + warp.clock_ahead;
  if (!warp.block->clock_stands || ins.waits_for_clock)
    warp.clock_stood = 0;
  else if (warp.clock_stood)
    time = warp.clock_stood;
  else
    warp.clock_stood = time;
  fill_lanes(warp, ins, mask, static_cast<T>(time >> first_bit));
}

}  // namespace

const std::map<std::string, Special>& special_names() {
  static const std::map<std::string, Special> kNames = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneId},
      {"%warpid", Special::kWarpId},
      {"%nwarpid", Special::kNwarpId},
      {"%smid", Special::kSmId},
      {"%nsmid", Special::kNsmId},
      {"%lanemask_eq", Special::kLaneMaskEq},
      {"%lanemask_lt", Special::kLaneMaskLt},
      {"%lanemask_le", Special::kLaneMaskLe},
      {"%lanemask_gt", Special::kLaneMaskGt},
      {"%lanemask_ge", Special::kLaneMaskGe},
      {"%dynamic_smem_size", Special::kDynamicShared},
      {"%total_smem_size", Special::kTotalShared},
      {"%aggr_smem_size", Special::kAllShared},
      {"%reserved_smem_offset_cap", Special::kReservedShared},
      // Where cooperative groups find the workspace of a grid barrier.
      {"%envreg1", Special::kWorkspaceHigh},
      {"%envreg2", Special::kWorkspaceLow},
      {"%cluster_ctarank", Special::kClusterRank},
      {"%cluster_nctarank", Special::kClusterBlocks},
      {"%cluster_ctaid.x", Special::kClusterCtaidX},
      {"%cluster_ctaid.y", Special::kClusterCtaidY},
      {"%cluster_ctaid.z", Special::kClusterCtaidZ},
      {"%cluster_nctaid.x", Special::kClusterNctaidX},
      {"%cluster_nctaid.y", Special::kClusterNctaidY},
      {"%cluster_nctaid.z", Special::kClusterNctaidZ},
      {"%clusterid.x", Special::kClusterIdX},
      {"%clusterid.y", Special::kClusterIdY},
      {"%clusterid.z", Special::kClusterIdZ},
      {"%nclusterid.x", Special::kNclusterIdX},
      {"%nclusterid.y", Special::kNclusterIdY},
      {"%nclusterid.z", Special::kNclusterIdZ},
      {"%is_explicit_cluster", Special::kExplicitCluster},
  };
  return kNames;
}

// Cooperative groups have theirs at _1; behind them, up to what an H100 keeps
// for itself, nothing is used.
const std::map<std::string, uint32_t>& reserved_names() {
  static const std::map<std::string, uint32_t> kNames = {
      {"%reserved_smem_offset_begin", 0},
      {"%reserved_smem_offset_1", 0},
      {"%reserved_smem_offset_end", 288}};
  return kNames;
}

const std::map<std::string, Clock>& clock_names() {
  static constexpr Clock kWhole = {8, read_clock<uint64_t, 0>};
  static constexpr Clock kLow = {4, read_clock<uint32_t, 0>};
  static constexpr Clock kHigh = {4, read_clock<uint32_t, 32>};
  static const std::map<std::string, Clock> kNames = {
      {"%clock", kLow},          {"%clock_hi", kHigh},
      {"%clock64", kWhole},      {"%globaltimer", kWhole},
      {"%globaltimer_lo", kLow}, {"%globaltimer_hi", kHigh}};
  return kNames;
}

bool reads_clock(const Instruction& ins) {
  return ins.statement &&
         std::ranges::any_of(ins.statement->operands, [](const Operand& o) {
           return clock_names().contains(o.text);
         });
}

std::vector<std::string> special_registers() {
  std::vector<std::string> names;
  for (const auto& [name, special] : special_names()) names.push_back(name);
  for (const auto& [name, clock] : clock_names()) names.push_back(name);
  for (const auto& [name, offset] : reserved_names()) names.push_back(name);
  return names;
}

}  // namespace simt
