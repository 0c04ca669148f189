// Finds the registers that are read although nobody may have written them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/simt/core/warp.h"
#include "common/simt/decode/analysis.h"

namespace simt {
namespace {

// Registers of a function, a bit each.
class Registers {
 public:
  explicit Registers(uint32_t count) : words_(count / 64 + 1) {}
  bool contains(uint32_t k) const { return words_[k / 64] >> k % 64 & 1; }
  void insert(uint32_t k) { words_[k / 64] |= 1ull << k % 64; }
  // Leaves those that others have, too; whether any had to go.
  bool intersect(const Registers& others) {
    uint64_t gone = 0;
    for (size_t k = 0; k < words_.size(); ++k) {
      gone |= words_[k] & ~others.words_[k];
      words_[k] &= others.words_[k];
    }
    return gone != 0;
  }

 private:
  std::vector<uint64_t> words_;
};

// Which registers have been written on every way to an instruction. A guarded
// write may write nothing.
class Written {
 public:
  explicit Written(const Function& f) : f_(f), before_(f.code.size()) {
    for (const Instruction& ins : f.code)
      for (Place p : ins.results())
        numbers_.try_emplace(p, static_cast<uint32_t>(numbers_.size()));
    arrive(0, Registers(static_cast<uint32_t>(numbers_.size())));
    while (!open_.empty()) {
      const uint32_t pc = *open_.begin();
      open_.erase(open_.begin());
      step(pc);
    }
  }

  // What is read elsewhere, and where first.
  std::map<Place, uint32_t> missing() const {
    std::map<Place, uint32_t> all;
    for (uint32_t pc = 0; pc < before_.size(); ++pc) {
      if (!before_[pc]) continue;
      const auto note = [&](Place p) {
        // What lies before a call's registers, the launch has filled in.
        if (p >= 0 && !contains(*before_[pc], p)) all.try_emplace(p, pc);
      };
      const Instruction& ins = f_.code[pc];
      note(ins.guard);
      for (Place p : ins.sources()) note(p);
      for (const Address& a : ins.addresses()) note(a.base);
    }
    return all;
  }

 private:
  bool contains(const Registers& written, Place p) const {
    const auto number = numbers_.find(p);
    return number != numbers_.end() && written.contains(number->second);
  }

  void step(uint32_t pc) {
    const Instruction& ins = f_.code[pc];
    Registers written = *before_[pc];
    if (ins.guard == kNowhere)
      for (Place p : ins.results()) written.insert(numbers_.at(p));
    for (uint32_t to : ins.targets()) arrive(to, written);
    if (ins.kind == Kind::kBranch) arrive(ins.target, written);
    const bool goes_on = ins.guard != kNowhere || !leaves(ins.kind);
    if (goes_on && pc + 1 < f_.code.size()) arrive(pc + 1, written);
  }
  static bool leaves(Kind kind) {
    return kind == Kind::kBranch || kind == Kind::kTable ||
           kind == Kind::kReturn || kind == Kind::kExit;
  }
  void arrive(uint32_t pc, const Registers& written) {
    auto& there = before_[pc];
    if (there && !there->intersect(written)) return;
    if (!there) there = written;
    open_.insert(pc);
  }

  const Function& f_;
  std::unordered_map<Place, uint32_t> numbers_;
  std::vector<std::optional<Registers>> before_;  // none: not reached
  std::set<uint32_t> open_;
};

bool reads_any(const Instruction& ins, const std::set<Place>& places) {
  const auto is_one = [&](Place p) { return places.contains(p); };
  return is_one(ins.guard) || std::ranges::any_of(ins.sources(), is_one) ||
         std::ranges::any_of(ins.addresses(), is_one, &Address::base);
}

// Who reads it for more than to hand it on, as unoptimised code does.
uint32_t first_use(const Function& f, Place place, uint32_t reader) {
  std::set<Place> copies = {place};
  for (uint32_t pc = reader; pc < f.code.size(); ++pc) {
    const Instruction& ins = f.code[pc];
    if (!reads_any(ins, copies)) continue;
    if (!ins.pure || !ins.statement || ins.statement->name() != "mov")
      return pc;
    copies.insert(ins.results().begin(), ins.results().end());
  }
  return reader;
}

}  // namespace

bool is_of_library(const std::string& function) {
  return std::ranges::any_of(
      std::array{"_ZN3cub", "_ZNK3cub", "_ZN6thrust", "_ZNK6thrust"},
      [&](const char* begin) { return function.starts_with(begin); });
}

void find_unwritten(Function& function) {
  for (const auto& [place, first] : Written(function).missing()) {
    const bool of_library =
        is_of_library(function.name) || function.code[first].where.of_library;
    function.unwritten.push_back({place, function.widths.at(place), !of_library,
                                  first_use(function, place, first)});
  }
}

}  // namespace simt
