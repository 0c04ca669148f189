// The model of ptxas, its loops: which of them it unrolls, and how far.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/simt/core/ptx.h"

namespace simt {

// Statements from a label to the branch that jumps back to it.
struct Loop {
  size_t label, branch;
  const Statement* compares = nullptr;  // setp.lt.u32 %p1, %r1, %r2;
  uint64_t step = 0;                    // of its first operand,
  bool up = true;                       // or down
  uint64_t turns = 0;                   // 0: the PTX does not say how many
  uint64_t at_once = 4;                 // so many turns become one

  bool vanishes() const { return turns == at_once; }
  bool is_signed() const { return compares->op[2][0] == 's'; }
  bool is_wide() const { return compares->type().bytes == 8; }
  bool ends_where_equal() const { return compares->op[1] == "ne"; }
  // The relation of a counter to the bound that it has not reached.
  const std::string& towards() const;
};

// Does a comparison of this number with another one always fail?
bool is_never_so(const Statement& compare, uint64_t number);

// add.s32 %r1, %r1, 4;
bool is_step(const Statement& s);

// The loops of one function.
class Loops {
 public:
  explicit Loops(const FunctionText& text);

  // The loop that ends with this branch, if it is one that ptxas unrolls.
  std::optional<Loop> ending_at(size_t branch) const;

 private:
  bool is_jumped_over(const Loop& loop, const Statement& s) const;
  bool counts(Loop& loop) const;
  std::optional<uint64_t> beginning(const Loop& loop) const;
  void count_turns(Loop& loop) const;
  bool unrolls(Loop& loop) const;

  const FunctionText& text_;
  std::map<std::string, std::vector<size_t>> jumps_;  // label -> who names it
};

}  // namespace simt
