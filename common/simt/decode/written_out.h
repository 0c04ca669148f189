// A function with the small functions that it calls written out in it, for who
// looks at what becomes of values: not optimised, even a cast is a call. It
// never runs.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "common/simt/core/program.h"

namespace simt {

class WrittenOut {
 public:
  explicit WrittenOut(const Function& f);

  const Function& function() const { return written_; }
  bool has_calls() const { return calls_ > 0; }
  // Which of the function's own instructions it is; kCalled: none.
  static constexpr uint32_t kCalled = ~0u;
  uint32_t own(uint32_t pc) const { return own_[pc]; }

 private:
  // Where the registers of a call lie among the places. An argument or a
  // result is a place of its own, and what is passed in it is a copy.
  struct Frame {
    const Function& function;
    Place registers = 0, slots = 0;
    const Call* call = nullptr;  // null: it is the function itself
    const Frame* caller = nullptr;
    Place place(Place p) const { return p < 0 ? p : registers + p; }
    Place slot(uint32_t offset) const;
  };

  bool is_small(const Instruction& ins);
  bool passes(const Frame& frame, const Instruction& ins) const;
  void write(const Frame& frame, const Instruction& ins);
  void call(const Frame& frame, const Call& call);
  void pass(const Frame& frame, Instruction& ins);
  void list_operands(const Frame& frame, Instruction& ins);

  Function written_;
  std::vector<uint32_t> own_;
  std::map<const Function*, bool> small_;
  std::set<uint32_t> passed_;        // offsets in the function's own frame
  Place registers_ = 0, slots_ = 0;  // of the next call
  int calls_ = 0;
};

}  // namespace simt
