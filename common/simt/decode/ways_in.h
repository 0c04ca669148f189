// What is known of a basic block of how control came there.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/simt/decode/dominators.h"

namespace simt {

// Basic blocks by their numbers, in the order of the text.
class WaysIn {
 public:
  explicit WaysIn(const Function& f);

  // Every way to a block leads through block `from`, and from there, without
  // a loop, only through those `between`. All numbers are ascending.
  struct Way {
    int from;
    std::vector<int> between;
  };

  int blocks() const { return static_cast<int>(ways_.size()); }
  uint32_t begin(int block) const { return first_[block]; }
  uint32_t end(int block) const { return first_[block + 1]; }
  const std::optional<Way>& way_to(int block) const { return ways_[block]; }
  const Dominators& dominators() const { return dominators_; }

 private:
  std::optional<Way> find(int block, int from) const;
  bool leaves_loop(int from, int to) const;

  const Dominators dominators_;
  std::vector<uint32_t> first_;  // of each, and of what would come behind
  std::vector<std::vector<int>> before_;
  std::vector<std::pair<int, int>> loops_;  // their first and last blocks
  std::vector<std::optional<Way>> ways_;
};

}  // namespace simt
