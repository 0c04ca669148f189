// What control has passed wherever it comes to an instruction.
#pragma once
#include <cstdint>
#include <vector>

#include "common/simt/core/program.h"

namespace simt {

// Where control may go from an instruction.
std::vector<uint32_t> successors(const Function& f, uint32_t pc);

// Found for all instructions at once, for many are asked about.
class Dominators {
 public:
  explicit Dominators(const Function& f);

  // Does every way from the beginning to `pc` pass `first`?
  bool dominates(uint32_t first, uint32_t pc) const {
    const Span& inner = spans_[pc];
    const Span& outer = spans_[first];
    return !inner.reached() ||
           (outer.begin <= inner.begin && inner.end <= outer.end);
  }

 private:
  // Of an instruction and all that it dominates, in the tree of those. Where
  // control never comes, nothing.
  struct Span {
    uint32_t begin = 1, end = 0;
    bool reached() const { return begin < end; }
  };

  std::vector<Span> spans_;
};

}  // namespace simt
