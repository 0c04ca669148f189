// The forms of PTX statements that the executor runs: one list, which decides
// what is accepted, and of which docs/ptx.md and the tests are made.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// A part of the list under its title, as it is written there.
struct FormGroup {
  std::string_view title;
  std::vector<std::string_view> lines;
};
const std::vector<FormGroup>& form_groups();

// "rnd" stands for "(.rn|.rz|.rm|.rp)" in the list.
const std::map<std::string_view, std::string_view>& form_words();

// Calls visit("add.sat.s32 d, a, b") for everything a line stands for; or only
// for what begins with `wanted`.
void expand_form(std::string_view line,
                 const std::function<void(const std::string&)>& visit,
                 std::string_view wanted = "");

// Does the list hold any form of the instruction `name`?
bool is_known_instruction(const std::string& name);

// May its operands be parts of registers, as in %r1.b0?
bool selects_parts(const std::string& name);

// An instruction with its modifiers as the list orders them. ptxas takes them
// in any order (vote.ballot.sync), so inline assembly has them in many. What
// the list does not hold in any order stays as it is.
std::vector<std::string> in_listed_order(std::vector<std::string> op);

// The special registers (%tid.x, ...), which are a list of their own.
std::vector<std::string> special_registers();

// The one of them that is a predicate.
inline bool is_special_predicate(std::string_view name) {
  return name == "%is_explicit_cluster";
}

// Compares statements with the list, and remembers what it found.
class Forms {
 public:
  // Throws Error, unless the list holds the statement's form.
  void check(const Statement& s, OperandReader& operands);

 private:
  // For one instruction with its modifiers: the operands it may have.
  using Signatures = std::vector<std::vector<std::string>>;
  const Signatures& signatures(const Statement& s);

  std::map<std::string, Signatures> known_;
};

}  // namespace simt
