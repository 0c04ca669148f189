// Finds which atomics ptxas makes reductions of.
#include <algorithm>
#include <set>
#include <string>

#include "common/simt/decode/analysis.h"

namespace simt {

// An atomic whose result is never read is a reduction: ptxas issues RED, which
// answers nothing. It issues ATOM all the same where the address may lead to
// shared memory, of an atomic that acquires, and in code that is linked later,
// with -rdc=true.
// Exchange and compare-and-swap have no such form, and none of 16 bits has one,
// unless it is one of several.
void find_atomic_forms(Function& function, bool relocatable) {
  static const std::set<std::string> kWhole = {"u32", "s32", "b32",
                                               "u64", "s64", "b64"};
  std::set<Place> read;
  for (const Instruction& ins : function.code) {
    read.insert(ins.guard);
    read.insert(ins.sources().begin(), ins.sources().end());
    for (const Address& a : ins.addresses()) read.insert(a.base);
  }
  read.erase(kNowhere);
  for (Instruction& ins : function.code) {
    if (!ins.statement) continue;
    const std::string& op = ins.statement->name();
    if (op != "atom" && op != "red") continue;
    const bool answers = ins.update == Update::kExchange ||
                         ins.update == Update::kCompareAndSwap ||
                         std::any_of(ins.results().begin(), ins.results().end(),
                                     [&](Place p) { return read.contains(p); });
    const bool stays = ins.address().space == Space::kGeneric || ins.acquires ||
                       (relocatable && op == "atom");
    const bool one = ins.statement->operands.back().list.empty();
    ins.atomic_form = one && ins.element_bytes == 2 ? AtomicForm::kLoadFirst
                      : answers                     ? AtomicForm::kAnswer
                      : stays                       ? AtomicForm::kDropped
                                                    : AtomicForm::kReduction;
    const bool for_all = !ins.for_block && !ins.for_cluster;
    ins.commutes = !answers && for_all && ins.update <= Update::kXor &&
                   !ins.releases && !ins.acquires &&
                   kWhole.contains(ins.statement->op.back());
  }
}

}  // namespace simt
