// Follows a value to all that is done because of it.
#include "common/simt/decode/consequences.h"

#include <utility>

#include "common/simt/decode/analysis.h"

namespace simt {

Consequences::Consequences(const Function& f, const Definitions& definitions,
                           const Readers& readers, uint32_t load,
                           uint32_t store, std::vector<bool> excused)
    : f_(f),
      definitions_(definitions),
      readers_(readers),
      store_(store),
      starts_(block_starts(f.code)),
      decided_(std::move(excused)) {
  decided_.resize(f.code.size());
  taint(f.code[load]);
  while (!open_.empty() && !own_) {
    const Place value = open_.back();
    open_.pop_back();
    for (uint32_t pc : readers_.of(value)) take(pc, value);
  }
}

std::optional<std::string> Consequences::besides() const {
  if (own_) return {};
  std::string all;
  for (const std::string& one : besides_) all += one + "; ";
  return all;
}

void Consequences::taint(const Instruction& ins) {
  for (Place p : written(ins))
    if (values_.insert(p)) open_.push_back(p);
}

// An instruction reads a value, or is guarded by it.
void Consequences::take(uint32_t pc, Place value) {
  const Instruction& ins = f_.code[pc];
  if (ins.guard == value)
    decide(ins.kind == Kind::kBranch ? region_of(pc) : std::vector{pc});
  bool reads = false;
  for (Place p : read(ins)) reads = reads || p == value;
  if (!reads) return;
  own_ = own_ || !(ins.pure || is_load(ins));
  taint(ins);
}

// From the branch to where its sides meet again.
std::vector<uint32_t> Consequences::region_of(uint32_t branch) const {
  const uint32_t end = f_.code[branch].reconverge;
  const std::vector<bool> seen =
      reach(f_, successors(f_, branch), [&](uint32_t at) { return at == end; });
  std::vector<uint32_t> region;
  for (uint32_t pc = 0; pc < seen.size(); ++pc)
    if (seen[pc] && pc != end) region.push_back(pc);
  return region;
}

// What is computed there, and used elsewhere, tells which way was gone.
void Consequences::decide(const std::vector<uint32_t>& region) {
  const std::set<uint32_t> inside(region.begin(), region.end());
  for (uint32_t pc : region) {
    if (decided_[pc]) continue;
    decided_[pc] = true;
    judge(pc);
    for (Place p : written(f_.code[pc]))
      for (uint32_t reader : readers_.of(p))
        if (!inside.contains(reader) && !just_written(p, reader))
          take(reader, p);
  }
}

void Consequences::judge(uint32_t pc) {
  const Instruction& ins = f_.code[pc];
  const bool moves_on = ins.kind == Kind::kBranch ||
                        ins.kind == Kind::kReturn || ins.kind == Kind::kExit;
  if (pc == store_ || ins.pure || is_load(ins) || moves_on) return;
  std::optional<std::string> same;
  if (is_store(ins) && ins.source_count == 1) {
    const auto writer = just_written(ins.source(0), pc);
    const bool copied = writer && copies(f_.code[*writer]);
    const Place value = copied ? f_.code[*writer].source(0) : ins.source(0);
    same = definitions_.same_store(ins, value, f_.code[store_]);
  }
  own_ = own_ || !same;
  if (same) besides_.insert(*same);
}

std::optional<uint32_t> Consequences::just_written(Place place,
                                                   uint32_t pc) const {
  while (!starts_[pc]) {
    --pc;
    for (Place p : written(f_.code[pc]))
      if (p == place && f_.code[pc].guard == kNowhere) return pc;
  }
  return {};
}

}  // namespace simt
