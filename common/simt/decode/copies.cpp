// Leaves out copies of what never changes: kernel parameters, numbers, %tid and
// its kin. In a short kernel every third instruction is such a copy.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/simt/core/warp.h"
#include "common/simt/decode/analysis.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {
namespace {

// Registers that others than instructions look into, by their place.
std::set<Place> looked_into(const Function& f) {
  std::set<Place> all;
  const auto note = [&](const std::optional<Comparison>& c) {
    if (c) all.insert(c->with);
  };
  for (const auto& [site, test] : f.tests) {
    all.insert(test.stores);
    for (const Comparison& c : test.comparisons) note(c);
  }
  for (const auto& [site, store] : f.tested_stores) {
    all.insert(store.uniform.begin(), store.uniform.end());
    note(store.asked);
  }
  for (const auto& [site, keeper] : f.keepers) {
    all.insert(keeper.place);
    note(keeper.comparison);
  }
  for (const auto& [site, wait] : f.waits)
    for (const auto& [place, bytes] : wait.written) all.insert(place);
  return all;
}

bool is_copy(const Instruction& ins, const Function& f) {
  if (!ins.pure || ins.guard != kNowhere || ins.result_count != 1) return false;
  const auto width = f.widths.find(ins.result(0));
  return width != f.widths.end() && width->second > 1 &&
         ins.run == copy_handler(width->second);
}

void nothing(Warp&, const Instruction&, uint32_t) {}

}  // namespace

void leave_out_copies(Function& function) {
  // Whoever reads these before they are written has no value to expect.
  std::set<Place> once = function.written_once();
  for (Place p : looked_into(function)) once.erase(p);
  std::map<Place, Place> original;
  const auto resolve = [&](Place p) {
    const auto found = original.find(p);
    return found == original.end() ? p : found->second;
  };
  for (Instruction& ins : function.code) {
    if (!is_copy(ins, function) || !once.contains(ins.result(0))) continue;
    const Place source = resolve(ins.source(0));
    if (source >= 0) continue;  // A register, which may change.
    original[ins.result(0)] = source;
    ins.run = nothing;
  }
  for (Instruction& ins : function.code) {
    std::vector<Place> operands(ins.results().begin(), ins.results().end());
    for (Place p : ins.sources()) operands.push_back(resolve(p));
    ins.operands = function.keep(operands) + ins.result_count;
    for (Address& a : ins.addresses()) a.base = resolve(a.base);
  }
  for (size_t pc = function.code.size() - 1; pc-- > 0;) {
    const Instruction& next = function.code[pc + 1];
    if (next.run == nothing && next.step < UINT8_MAX)
      function.code[pc].step = static_cast<uint8_t>(next.step + 1);
  }
}

}  // namespace simt
