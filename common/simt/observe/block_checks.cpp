// Begins what the checker knows of a block.
#include "common/simt/observe/block_checks.h"

#include <algorithm>
#include <bit>

namespace simt {
namespace {

size_t entries(size_t bytes, size_t unit) {
  return std::bit_ceil(bytes / unit + 1);
}

}  // namespace

BlockChecks::BlockChecks(size_t shared_bytes, uint32_t threads)
    : shared(entries(shared_bytes, Shadow::kLineBytes),
             entries(shared_bytes, Shadow::kWordBytes)),
      written_bits(shared_bytes / 64 + 1),
      written(written_bits.data()),
      busy_bits(written_bits.size()),
      busy(busy_bits.data()),
      values((threads + kLanes - 1) / kLanes) {
  for (uint32_t left = threads; left;) {
    const uint32_t lanes = std::min<uint32_t>(left, kLanes);
    order.warps.emplace_back().lanes =
        lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    left -= lanes;
  }
}

void BlockChecks::start(const Block& block, Time now) {
  order.start(static_cast<uint32_t>(block.number), now);
  std::fill(written_bits.begin(), written_bits.end(), 0);
  std::fill(busy_bits.begin(), busy_bits.end(), 0);
  postponed.clear();
  postpones = block.cluster.empty();
  clashes.clear();
  stored_by.clear();
  copies.clear();
  front.start(order.warps.size());
  const Grid& grid = *block.grid;
  // What follows in the last word is the program's, but none of its arrays'.
  written.insert(grid.shared_end(), grid.shared_words_end());
  // What is there at first is the system's business.
  if (grid.reserves_shared())
    written.insert(grid.reserved_begin(), grid.all_shared());
  if (block.cluster.empty()) return;
  std::vector<BlockOrder*> orders;
  for (Block* one : block.cluster) orders.push_back(&one->checks->order);
  order.join(orders, block.rank);
}

}  // namespace simt
