// Of the model of ptxas: a product and the sum that it goes into, as one.
//
// PTX leaves it open whether such a pair is rounded once or twice, unless one
// of them names a rounding. ptxas fuses them where the product goes into sums
// only, none of which is one with another product by then. First come sums with
// a product that goes nowhere else, the first of two; then the others in their
// order, each with the product that goes into the fewest. So a product may be
// fused with some of its sums, and there for the rest. Pairs of halves come in
// their order at once. A copy or a change of the sign in between changes
// nothing. Where a branch of the PTX lies in between, one of the factors must
// be a constant or a parameter, even if the branch becomes none. Results are
// those of a GPU only if it is done so here.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/ptxas.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {
namespace {

void do_nothing(Warp&, const Instruction&, uint32_t) {}

bool leaves_rounding_open(const Instruction& ins) {
  const Statement& s = *ins.statement;
  return !s.has("rn") && !s.has("rz") && !s.has("rm") && !s.has("rp");
}

bool is_open(const Instruction& ins, const std::string& op) {
  return ins.statement && ins.statement->name() == op && ins.pure &&
         ins.source_count == 2 && leaves_rounding_open(ins) &&
         fused_handler(ins.statement->type(), Fused::kSum);
}

bool is_sum(const Instruction& ins) {
  return is_open(ins, "add") || is_open(ins, "sub");
}

// Who wrote what is read.
class Writers {
 public:
  explicit Writers(const std::vector<Instruction>& code)
      : code_(code), block_(code.size() + 1) {
    const std::vector<bool> leads = block_starts(code);
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (leads[pc]) first_.push_back(pc);
      block_[pc] = first_.size() - 1;
      for (Place place : code[pc].results()) all_[place].push_back(pc);
    }
    block_[code.size()] = first_.size();
    before_.resize(first_.size() + 1);
    for (uint32_t pc = 0; pc < code.size(); ++pc)
      if (leads[pc + 1]) leave(pc);
  }

  const std::vector<uint32_t>& of(Place place) const {
    static const std::vector<uint32_t> kNone;
    const auto found = all_.find(place);
    return found == all_.end() ? kNone : found->second;
  }

  // Those who may have written what lies at `place` when `pc` begins.
  std::set<uint32_t> of(Place place, uint32_t pc) const {
    const std::vector<uint32_t>& all = of(place);
    if (all.size() < 2) return {all.begin(), all.end()};
    std::set<uint32_t> found;
    std::vector<bool> seen(first_.size() + 1, false);
    // What is looked through, backwards: from before `end` to a block's begin.
    struct Part {
      size_t block;
      uint32_t end;
    };
    std::vector<Part> parts{{block_[pc], pc}};
    while (!parts.empty()) {
      const auto [block, end] = parts.back();
      parts.pop_back();
      auto writer = std::ranges::lower_bound(all, end);
      bool overwritten = false;
      while (!overwritten && writer != all.begin() &&
             *--writer >= first_[block]) {
        found.insert(*writer);
        overwritten = code_[*writer].guard == kNowhere;
      }
      if (overwritten) continue;
      for (const uint32_t last : before_[block]) {
        const size_t from = block_[last];
        if (!seen[from]) parts.push_back({from, last + 1});
        seen[from] = true;
      }
    }
    return found;
  }

  bool is_in_one_block(uint32_t from, uint32_t to) const {
    return from < to && block_[from] == block_[to];
  }

 private:
  void leave(uint32_t pc) {
    const Instruction& ins = code_[pc];
    const auto go = [&](uint32_t to) { before_[block_[to]].push_back(pc); };
    if (ins.kind == Kind::kBranch) go(ins.target);
    for (const uint32_t target : ins.targets()) go(target);
    const bool goes_on = ins.kind != Kind::kBranch &&
                         ins.kind != Kind::kTable &&
                         ins.kind != Kind::kReturn && ins.kind != Kind::kExit;
    if (goes_on || ins.guard != kNowhere) go(pc + 1);
  }

  const std::vector<Instruction>& code_;
  std::vector<uint32_t> first_;                // of each block
  std::vector<size_t> block_;                  // of each instruction
  std::vector<std::vector<uint32_t>> before_;  // what leads to a block
  std::map<Place, std::vector<uint32_t>> all_;
};

class Products {
 public:
  explicit Products(Function& function) : f_(function), writers_(f_.code) {
    const auto read = [&](uint32_t pc, Place place) {
      if (place < 0 || !may_hold_product(place)) return;
      const std::set<uint32_t> from = writers_.of(place, pc);
      if (from.size() == 1)
        written_at_[{pc, place}] = *from.begin();
      else
        mixed_.insert(from.begin(), from.end());
    };
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      const Instruction& ins = f_.code[pc];
      read(pc, ins.guard);
      for (Place place : ins.sources()) read(pc, place);
      for (const Address& a : ins.addresses()) read(pc, a.base);
    }
    for (const auto& [read, writer] : written_at_)
      if (!hands_on(read.first))
        readers_[root(writer).pc].push_back(
            {read.first, read.second, root(writer).negated});
    for (const uint32_t writer : mixed_) needed_.insert(root(writer).pc);
  }

  // Chooses a product that the sum is to be one with, if there is one: one
  // that goes into this sum alone, or any. Of pairs, it is any the first time.
  void choose(uint32_t sum, bool alone) {
    if (chosen_.contains(sum)) return;
    if (is_pair(f_.code[sum])) alone = false;
    std::optional<uint32_t> best;
    for (int k : {0, 1}) {
      const auto found = written_at_.find({sum, f_.code[sum].source(k)});
      if (found == written_at_.end()) continue;
      const uint32_t product = root(found->second).pc;
      const size_t sums = readers_[product].size();
      if ((!alone || sums == 1) && goes_into_sums(product) &&
          (!best || sums < readers_[*best].size()))
        best = product;
    }
    if (best) chosen_[sum] = *best;
  }

  void fuse() {
    std::map<uint32_t, size_t> taken;
    for (const auto& [sum, product] : chosen_) {
      const std::vector<Reader>& readers = readers_[product];
      take_in(product, *std::ranges::find(readers, sum, &Reader::pc));
      if (++taken[product] < readers.size()) continue;
      f_.code[product].run = do_nothing;
      f_.code[product].made_bytes = Instruction::kNotMade;
    }
  }

 private:
  static constexpr int kMostSteps = 16;  // Somebody may hand on to himself.
  // Of a product, perhaps by way of others that hand it on.
  struct Reader {
    uint32_t pc;
    Place place;
    bool negated;
  };
  struct Root {
    uint32_t pc;
    bool negated;
  };

  bool may_hold_product(Place place) const {
    return std::ranges::any_of(writers_.of(place), [&](uint32_t pc) {
      return is_open(f_.code[pc], "mul") || copies(f_.code[pc]);
    });
  }

  static bool is_pair(const Instruction& ins) {
    return ins.statement->has("f16x2") || ins.statement->has("bf16x2");
  }

  // Pairs of bfloat16 have no other sign but by a product of its own.
  static bool copies(const Instruction& ins) {
    if (!ins.statement || !ins.pure || ins.guard != kNowhere ||
        ins.result_count != 1 || ins.source_count != 1)
      return false;
    const Statement& s = *ins.statement;
    return s.name() == "mov" || (s.name() == "neg" && !s.has("bf16x2")) ||
           (s.name() == "abs" && s.has("f32"));
  }

  // A copy, with its sign or the other one, of what one instruction computed.
  // A square in f32 has no sign to lose.
  bool hands_on(uint32_t pc) const {
    if (!copies(f_.code[pc])) return false;
    const auto from = written_at_.find({pc, f_.code[pc].source(0)});
    if (from == written_at_.end()) return false;
    if (f_.code[pc].statement->name() != "abs") return true;
    const Instruction& square = f_.code[from->second];
    return is_open(square, "mul") && square.source(0) == square.source(1);
  }

  // What computes the value that is handed on here.
  Root root(uint32_t pc) const {
    Root at{pc, false};
    for (int steps = 0; steps < kMostSteps && hands_on(at.pc); ++steps) {
      const Instruction& ins = f_.code[at.pc];
      at.negated ^= ins.statement->name() == "neg";
      at.pc = written_at_.at({at.pc, ins.source(0)});
    }
    return at;
  }

  // Is it a product that goes into sums only, none of which is another's?
  bool goes_into_sums(uint32_t pc) {
    const auto [known, is_new] = fits_sums_.try_emplace(pc, false);
    if (is_new) known->second = fits_sums(pc);
    return known->second &&
           std::ranges::all_of(readers_[pc], [&](const Reader& reader) {
             const auto other = chosen_.find(reader.pc);
             return other == chosen_.end() || other->second == pc;
           });
  }

  // Can all who read it compute with its factors?
  bool fits_sums(uint32_t pc) {
    const Instruction& product = f_.code[pc];
    const std::vector<Reader>& readers = readers_[pc];
    const Place a = product.source(0), b = product.source(1);
    return is_open(product, "mul") && product.guard == kNowhere &&
           !product.modifiers.saturate && !needed_.contains(pc) &&
           std::ranges::all_of(readers, [&](const Reader& reader) {
             const Instruction& sum = f_.code[reader.pc];
             return is_sum(sum) && sum.source(0) != sum.source(1) &&
                    std::ranges::count(readers, reader.pc, &Reader::pc) == 1 &&
                    sum.statement->type() == product.statement->type() &&
                    sum.modifiers.flush == product.modifiers.flush &&
                    is_same(a, pc, reader.pc) && is_same(b, pc, reader.pc) &&
                    (writers_.is_in_one_block(pc, reader.pc) ||
                     is_constant(a, pc) || is_constant(b, pc));
           });
  }

  void take_in(uint32_t product, const Reader& reader) {
    Instruction& sum = f_.code[reader.pc];
    const auto factor = [&](int k) {
      const Place place = f_.code[product].source(k);
      return constant(place, product).value_or(place);
    };
    const bool subtracts = sum.statement->name() == "sub",
               is_first = sum.source(0) == reader.place;
    const bool less_product = reader.negated != (subtracts && !is_first),
               less_addend = subtracts && is_first;
    sum.run = fused_handler(
        sum.statement->type(),
        less_product  ? less_addend ? Fused::kMinusBoth : Fused::kMinusProduct
        : less_addend ? Fused::kMinusAddend
                      : Fused::kSum);
    sum.operands =
        f_.keep(std::vector<Place>{sum.result(0), factor(0), factor(1),
                                   sum.source(is_first)}) +
        1;
    sum.source_count = 3;
  }

  // Can a factor of the product be had where the sum is?
  bool is_same(Place factor, uint32_t product, uint32_t sum) const {
    return constant(factor, product) ||
           writers_.of(factor, product) == writers_.of(factor, sum);
  }

  // What holds a number of the PTX or a parameter, even where the register that
  // it was copied to holds something else.
  std::optional<Place> constant(Place place, uint32_t pc) const {
    if (place < 0) return place;
    const std::set<uint32_t> from = writers_.of(place, pc);
    if (from.size() != 1) return {};
    const Instruction& ins = f_.code[*from.begin()];
    if (!is_copy_of_constant(ins)) return {};
    return ins.source(0);
  }

  // A number of the PTX, perhaps converted, or a parameter.
  bool is_constant(Place place, uint32_t pc, int steps = kMostSteps) const {
    if (constant(place, pc)) return true;
    const std::set<uint32_t> from = writers_.of(place, pc);
    return !from.empty() && std::ranges::all_of(from, [&](uint32_t writer) {
      return is_made_of_constants(writer, steps);
    });
  }

  static bool is_copy_of_constant(const Instruction& ins) {
    if (!ins.statement || !ins.pure || ins.guard != kNowhere) return false;
    const std::string& op = ins.statement->name();
    return (op == "mov" || op == "ld") && ins.source_count == 1 &&
           ins.source(0) < 0;
  }

  // As a __half is that was written as a float, and a pair of them. What is
  // converted must be a number.
  bool is_made_of_constants(uint32_t pc, int steps) const {
    const Instruction& ins = f_.code[pc];
    if (!ins.statement || !ins.pure || ins.guard != kNowhere || steps == 0)
      return false;
    const std::string& op = ins.statement->name();
    return (op == "cvt" || op == "mov") && ins.source_count > 0 &&
           std::ranges::all_of(ins.sources(), [&](Place place) {
             const std::set<uint32_t> from = writers_.of(place, pc);
             if (place < 0 || from.size() != 1) return false;
             const Statement* s = f_.code[*from.begin()].statement;
             const bool is_number = s && s->name() == "mov" && s->has("f32");
             return is_constant(place, pc, steps - 1) &&
                    (op == "mov" || is_number);
           });
  }

  Function& f_;
  const Writers writers_;
  std::map<std::pair<uint32_t, Place>, uint32_t> written_at_;  // by reader
  std::set<uint32_t> mixed_;   // Their results are read where others' may be,
  std::set<uint32_t> needed_;  // so that these are needed as they are.
  std::map<uint32_t, std::vector<Reader>> readers_;  // of what is computed here
  std::map<uint32_t, bool> fits_sums_;               // of products looked at
  std::map<uint32_t, uint32_t> chosen_;              // for a sum, a product
};

}  // namespace

void fuse_products(Function& function) {
  if (std::ranges::none_of(function.code, is_sum)) return;
  Products products(function);
  for (const bool alone : {true, false})
    for (uint32_t pc = 0; pc < function.code.size(); ++pc)
      if (is_sum(function.code[pc])) products.choose(pc, alone);
  products.fuse();
}

}  // namespace simt
