// Races of a kernel that one barrier would order: who forgets it gets as many
// as there are pairs of lines on its two sides. The first is told in full.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "common/simt/core/finding.h"

namespace simt {

class OneBarrier {
 public:
  explicit OneBarrier(const Finding& first);
  // Whether a barrier that orders all so far can order this finding, too, which
  // is one of them from then on.
  bool takes(const Finding& more);
  std::string text() const;

 private:
  using Lines = std::pair<uint32_t, uint32_t>;  // the smaller first
  static Lines lines_of(const Finding& f);

  const Finding& first_;
  Lines between_;  // the barrier would stand
  std::set<Lines> pairs_;
};

}  // namespace simt
