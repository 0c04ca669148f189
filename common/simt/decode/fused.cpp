// Of the model of ptxas: a product and the sum that it goes into, as one.
//
// PTX leaves it open whether such a pair is rounded once or twice, unless one
// of them names a rounding. ptxas fuses it where the product goes into sums
// only, and into all of them. Of two products it takes the one that goes into
// this sum alone, or else the first. It does not do so across a branch, if two
// factors would have to be kept until then instead of the product. Results are
// those of a GPU only if it is done so here.
#include <algorithm>
#include <map>

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
// that become predicates.
std::vector<bool> machine_blocks(const std::vector<Instruction>& code) {
  std::vector<bool> leads = block_starts(code);
  std::vector<bool> stays(code.size() + 1, false);
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].predicated || !leads[pc + 1]) continue;
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
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      const Instruction& ins = f_.code[pc];
      for (Place place : ins.results()) ++writers_[place], writer_[place] = pc;
      readers_[ins.guard].push_back(pc);
      for (Place place : ins.sources()) readers_[place].push_back(pc);
      for (const Address& a : ins.addresses()) readers_[a.base].push_back(pc);
    }
  }

  // Makes the sum one with a product that it adds, if it can be.
  void fuse(uint32_t sum) {
    for (const bool alone : {true, false})
      for (int k : {0, 1}) {
        const Place place = f_.code[sum].source(k);
        if (place < 0 || writers_[place] != 1 ||
            (readers_[place].size() == 1) != alone || !goes_into_sums(place))
          continue;
        Instruction& product = f_.code[writer_[place]];
        for (uint32_t reader : readers_[place]) take_in(product, reader, place);
        product.run = do_nothing;
        product.joined_bytes = Instruction::kWithAnother;
        return;
      }
  }

 private:
  // Is it a product for which all who read it can compute with its factors?
  bool goes_into_sums(Place place) {
    const uint32_t pc = writer_[place];
    const Instruction& product = f_.code[pc];
    return is_open(product, "mul") && product.guard == kNowhere &&
           !product.modifiers.saturate &&
           std::ranges::all_of(readers_[place], [&](uint32_t reader) {
             const Instruction& sum = f_.code[reader];
             return is_sum(sum) && sum.source(0) != sum.source(1) &&
                    sum.statement->type() == product.statement->type() &&
                    sum.modifiers.flush == product.modifiers.flush &&
                    is_same_until(product.source(0), pc, reader) &&
                    is_same_until(product.source(1), pc, reader) &&
                    (is_in_one_block(pc, reader) || takes_no_room(product));
           });
  }

  void take_in(const Instruction& product, uint32_t pc, Place place) {
    Instruction& sum = f_.code[pc];
    const bool adds = sum.statement->name() == "add",
               is_first = sum.source(0) == place;
    sum.run =
        fused_handler(sum.statement->type(), adds       ? Fused::kSum
                                             : is_first ? Fused::kMinusAddend
                                                        : Fused::kMinusProduct);
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

  // Is one of the factors at most needed for this product alone?
  bool takes_no_room(const Instruction& product) {
    const Place a = product.source(0), b = product.source(1);
    const auto is_kept = [&](Place place) {
      if (place < 0 || readers_[place].size() > 1) return true;
      const Instruction& ins = f_.code[writer_[place]];  // of a parameter
      return ins.pure && ins.source_count == 1 && ins.source(0) < 0;
    };
    return a == b || is_kept(a) || is_kept(b);
  }

  Function& f_;
  const std::vector<bool> leads_;
  std::map<Place, int> writers_;
  std::map<Place, uint32_t> writer_;
  std::map<Place, std::vector<uint32_t>> readers_;
};

}  // namespace

void fuse_products(Function& function) {
  if (std::ranges::none_of(function.code, is_sum)) return;
  Products products(function);
  for (uint32_t pc = 0; pc < function.code.size(); ++pc)
    if (is_sum(function.code[pc])) products.fuse(pc);
}

}  // namespace simt
