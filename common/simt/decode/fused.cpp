// Of the model of ptxas: a product and the sum that it goes into, as one.
//
// PTX leaves it open whether such a pair is rounded once or twice, unless one
// of them names a rounding. ptxas fuses it where nobody else needs the product,
// of two products the first; but not across a branch, if two factors would have
// to be kept until then instead of the product. Results are those of a GPU only
// if it is done so here.
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
      ++readers_[ins.guard];
      for (Place place : ins.sources()) ++readers_[place];
      for (const Address& a : ins.addresses()) ++readers_[a.base];
    }
  }

  // Where the source of a sum is computed, if it can be fused with that.
  const Instruction* product(uint32_t sum, int source) {
    const Place place = f_.code[sum].source(source);
    if (place < 0 || writers_[place] != 1 || readers_[place] != 1)
      return nullptr;
    const uint32_t pc = writer_[place];
    const Instruction& ins = f_.code[pc];
    const bool fits = is_open(ins, "mul") && ins.guard == kNowhere &&
                      ins.statement->type() == f_.code[sum].statement->type() &&
                      ins.modifiers.flush == f_.code[sum].modifiers.flush &&
                      !ins.modifiers.saturate;
    return fits && is_same_until(ins.source(0), pc, sum) &&
                   is_same_until(ins.source(1), pc, sum) &&
                   (is_in_one_block(pc, sum) || takes_no_room(ins))
               ? &ins
               : nullptr;
  }

  void fuse(const Instruction& product, uint32_t sum, int source, Fused form) {
    Instruction& ins = f_.code[sum];
    ins.run = fused_handler(ins.statement->type(), form);
    ins.operands =
        f_.keep(std::vector<Place>{ins.result(0), product.source(0),
                                   product.source(1), ins.source(1 - source)}) +
        1;
    ins.source_count = 3;
    Instruction& done = f_.code[&product - f_.code.data()];
    done.run = do_nothing;
    done.joined_bytes = Instruction::kWithAnother;
  }

 private:
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
      if (place < 0 || readers_[place] > 1) return true;
      const Instruction& ins = f_.code[writer_[place]];  // of a parameter
      return ins.pure && ins.source_count == 1 && ins.source(0) < 0;
    };
    return a == b || is_kept(a) || is_kept(b);
  }

  Function& f_;
  const std::vector<bool> leads_;
  std::map<Place, int> writers_, readers_;
  std::map<Place, uint32_t> writer_;
};

}  // namespace

void fuse_products(Function& function) {
  const auto is_sum = [](const Instruction& ins) {
    return is_open(ins, "add") || is_open(ins, "sub");
  };
  if (std::ranges::none_of(function.code, is_sum)) return;
  Products products(function);
  for (uint32_t pc = 0; pc < function.code.size(); ++pc) {
    if (!is_sum(function.code[pc])) continue;
    const bool adds = function.code[pc].statement->name() == "add";
    for (int k : {0, 1})
      if (const Instruction* product = products.product(pc, k)) {
        products.fuse(*product, pc, k,
                      adds     ? Fused::kSum
                      : k == 0 ? Fused::kMinusAddend
                               : Fused::kMinusProduct);
        break;
      }
  }
}

}  // namespace simt
