// Of the model of ptxas: a product and the sum that it goes into, as one.
//
// PTX leaves it open whether such a pair is rounded once or twice, unless one
// of them names a rounding. ptxas fuses it where the product goes into sums
// only, and into all of them. Products that go into one sum alone come first,
// the first of two; then those that go into several, none of which has another
// by then. A copy or a change of the sign in between changes nothing. It does
// not do so across a branch, if two factors would have to be kept until then
// instead of the product. Results are those of a GPU only if it is done so
// here.
#include <algorithm>
#include <map>
#include <set>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/ptxas.h"
#include "common/simt/isa/arithmetic.h"

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

// Where the machine's basic blocks begin: those of the PTX, but for branches
// that ptxas sees are never taken, as between the turns of a loop that is
// written out. What becomes predicates are branches yet when it fuses.
std::vector<bool> machine_blocks(const std::vector<Instruction>& code) {
  std::vector<bool> leads = block_starts(code);
  std::vector<bool> stays(code.size() + 1, false);
  for (size_t pc = 0; pc < code.size(); ++pc) {
    const Statement* statement = code[pc].statement;
    if ((statement && statement->left_out) || !leads[pc + 1]) continue;
    stays[pc + 1] = true;
    if (code[pc].kind == Kind::kBranch) stays[code[pc].target] = true;
    for (uint32_t target : code[pc].targets()) stays[target] = true;
  }
  return stays;
}

class Products {
 public:
  explicit Products(Function& function)
      : f_(function), leads_(machine_blocks(function.code)) {
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      for (Place place : f_.code[pc].results())
        ++writers_[place], writer_[place] = pc;
    follow_values();
    for (const auto& [read, writer] : written_at_) {
      const auto& [reader, place] = read;
      if (!hands_on(reader) || elsewhere_.contains(f_.code[reader].result(0)))
        readers_[root(writer).pc].push_back(
            {reader, place, root(writer).negated});
    }
  }

  // Makes the sum one with a product that it adds, if it can be: with one that
  // goes into this sum alone, or with one that goes into several.
  void fuse(uint32_t sum, bool alone) {
    for (int k : {0, 1}) {
      const Place place = f_.code[sum].source(k);
      const auto found = written_at_.find({sum, place});
      if (found == written_at_.end() || elsewhere_.contains(place)) continue;
      const uint32_t pc = root(found->second).pc;
      const std::vector<Reader>& readers = readers_[pc];
      if ((readers.size() == 1) != alone || !goes_into_sums(pc, readers))
        continue;
      Instruction& product = f_.code[pc];
      for (const Reader& reader : readers) take_in(product, reader);
      product.run = do_nothing;
      product.joined_bytes = Instruction::kWithAnother;
      return;
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

  // Who reads what was written where. In loops that are written out several
  // times, places are, too: there it is the last writer within the block.
  void follow_values() {
    const std::vector<bool> leads = block_starts(f_.code);
    std::map<Place, uint32_t> last;
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      if (leads[pc]) last.clear();
      const Instruction& ins = f_.code[pc];
      const auto read = [&](Place place) {
        if (place < 0) return;
        const auto writer = last.find(place);
        if (writers_[place] == 1)
          written_at_[{pc, place}] = writer_[place];
        else if (writer != last.end())
          written_at_[{pc, place}] = writer->second;
        else
          elsewhere_.insert(place);
      };
      read(ins.guard);
      for (Place place : ins.sources()) read(place);
      for (const Address& a : ins.addresses()) read(a.base);
      for (Place place : ins.results()) {
        last[place] = pc;
        if (ins.guard != kNowhere && writers_[place] > 1)
          elsewhere_.insert(place);
      }
    }
  }

  // A copy, with its sign or the other one.
  bool hands_on(uint32_t pc) const {
    const Instruction& ins = f_.code[pc];
    return ins.statement && ins.pure && ins.guard == kNowhere &&
           ins.result_count == 1 && ins.source_count == 1 &&
           (ins.statement->name() == "mov" || ins.statement->name() == "neg") &&
           written_at_.contains({pc, ins.source(0)}) &&
           !elsewhere_.contains(ins.source(0));
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

  // Is it a product for which all who read it can compute with its factors?
  bool goes_into_sums(uint32_t pc, const std::vector<Reader>& readers) {
    const Instruction& product = f_.code[pc];
    return is_open(product, "mul") && product.guard == kNowhere &&
           !product.modifiers.saturate &&
           std::ranges::all_of(readers, [&](const Reader& reader) {
             const Instruction& sum = f_.code[reader.pc];
             const auto is_here = [&](const Reader& one) {
               return one.pc == reader.pc;
             };
             return is_sum(sum) && sum.source(0) != sum.source(1) &&
                    std::ranges::count_if(readers, is_here) == 1 &&
                    sum.statement->type() == product.statement->type() &&
                    sum.modifiers.flush == product.modifiers.flush &&
                    is_same_until(product.source(0), pc, reader.pc) &&
                    is_same_until(product.source(1), pc, reader.pc) &&
                    (is_in_one_block(pc, reader.pc) || takes_no_room(product));
           });
  }

  void take_in(const Instruction& product, const Reader& reader) {
    Instruction& sum = f_.code[reader.pc];
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
        f_.keep(std::vector<Place>{sum.result(0), product.source(0),
                                   product.source(1), sum.source(is_first)}) +
        1;
    sum.source_count = 3;
  }

  bool is_in_one_block(uint32_t from, uint32_t to) const {
    return from < to &&
           std::find(leads_.begin() + from + 1, leads_.begin() + to + 1,
                     true) == leads_.begin() + to + 1;
  }

  // Does a place still hold at `to` what it held at `from`?
  bool is_same_until(Place place, uint32_t from, uint32_t to) {
    if (place < 0 || writers_[place] == 1) return true;
    if (!is_in_one_block(from, to)) return false;
    for (uint32_t pc = from; pc < to; ++pc)
      if (std::ranges::count(f_.code[pc].results(), place)) return false;
    return true;
  }

  // Is one of the factors a constant or a parameter, which need no register?
  bool takes_no_room(const Instruction& product) {
    return std::ranges::any_of(product.sources(), [&](Place place) {
      if (place < 0) return true;
      const Instruction& ins = f_.code[writer_[place]];
      return ins.pure && ins.source_count == 1 && ins.source(0) < 0;
    });
  }

  Function& f_;
  const std::vector<bool> leads_;
  std::map<Place, int> writers_;
  std::map<Place, uint32_t> writer_;
  std::map<std::pair<uint32_t, Place>, uint32_t> written_at_;  // by reader
  std::set<Place> elsewhere_;  // somebody reads what another block wrote
  std::map<uint32_t, std::vector<Reader>> readers_;  // of what is computed here
};

}  // namespace

void fuse_products(Function& function) {
  if (std::ranges::none_of(function.code, is_sum)) return;
  Products products(function);
  for (const bool alone : {true, false})
    for (uint32_t pc = 0; pc < function.code.size(); ++pc)
      if (is_sum(function.code[pc])) products.fuse(pc, alone);
}

}  // namespace simt
