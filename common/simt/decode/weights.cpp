// Of the model of ptxas: how many instructions it makes of one, and which two
// it makes one of. How often the machine does something follows from that, and
// which branches are short enough to become predicates.
#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/ptxas.h"
#include "common/simt/decode/reading.h"

namespace simt {
namespace {

bool is_any(const Instruction& ins, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names,
                             [&](const char* name) { return is(ins, name); });
}

bool is_long(const Statement& s) {
  return s.has("u64") || s.has("s64") || s.has("b64");
}
bool is_long(const Instruction& ins) { return is_long(*ins.statement); }

bool is_float(const Instruction& ins) {
  return ins.statement->type().is_float();
}

// What becomes of an instruction by itself, the machine's registers having 32
// bits: the first line that fits. Of what branches to code for extreme operands
// it is the usual way; a division of 64 bits is a call.
struct Price {
  const char *op, *type, *modifier;  // null: whichever
  int instructions;
};
constexpr Price kPrices[] = {
    {"div", "f32", "rn", 11},     {"sqrt", "f32", "rn", 10},
    {"rcp", "f32", "rn", 9},      {"div", "f64", nullptr, 16},
    {"sqrt", "f64", nullptr, 15}, {"rcp", "f64", nullptr, 12},
    {"div", "f32", "ftz", 2},     {"div", "f32", "approx", 5},
    {"div", "f32", "full", 8},    {"rcp", "f32", "ftz", 1},
    {"rcp", "f32", nullptr, 8},   {"ex2", "f32", "ftz", 1},
    {"lg2", "f32", "ftz", 1},     {"sqrt", "f32", "ftz", 1},
    {"rsqrt", "f32", "ftz", 1},   {"ex2", "f32", nullptr, 4},
    {"lg2", "f32", nullptr, 4},   {"sqrt", "f32", nullptr, 4},
    {"rsqrt", "f32", nullptr, 4}, {"sin", nullptr, nullptr, 2},
    {"cos", nullptr, nullptr, 2}, {"div", "u32", nullptr, 18},
    {"div", "s32", nullptr, 25},  {"rem", "u32", nullptr, 17},
    {"rem", "s32", nullptr, 23},  {"div", "u64", nullptr, 70},
    {"div", "s64", nullptr, 80},  {"rem", "u64", nullptr, 70},
    {"rem", "s64", nullptr, 80},  {"clz", "b32", nullptr, 2},
    {"popc", "b64", nullptr, 3},  {"clz", "b64", nullptr, 6},
    {"mul", "s64", "lo", 4},      {"mul", "u64", "lo", 4},
    {"mul", "s64", "hi", 7},      {"mul", "u64", "hi", 7},
    {"mad", "s64", "lo", 4},      {"mad", "u64", "lo", 4},
    {"min", "s64", nullptr, 4},   {"max", "s64", nullptr, 4},
    {"min", "u64", nullptr, 4},   {"max", "u64", nullptr, 4},
    {"min", "f64", nullptr, 7},   {"max", "f64", nullptr, 7},
    {"abs", "s64", nullptr, 5},   {"abs", "s32", nullptr, 2},
    {"add", "s64", nullptr, 2},   {"add", "u64", nullptr, 2},
    {"sub", "s64", nullptr, 2},   {"sub", "u64", nullptr, 2},
    {"neg", "s64", nullptr, 2},   {"and", "b64", nullptr, 2},
    {"or", "b64", nullptr, 2},    {"xor", "b64", nullptr, 2},
    {"not", "b64", nullptr, 2},   {"shr", "u64", nullptr, 2},
    {"shr", "s64", nullptr, 2},   {"setp", "s64", nullptr, 2},
    {"setp", "u64", nullptr, 2},
};

// Parameters are operands from constant memory, registers are renamed, and a
// shift of an index goes into the addition that makes it an address.
bool takes_none(const Statement& s) {
  const std::string& op = s.name();
  const bool special = s.text.find("id.") != std::string::npos ||  // %tid.x
                       s.text.find("%laneid") != std::string::npos;
  return s.has("param") || op == "cvta" || (op == "mov" && !special) ||
         (is_long(s) && (op == "cvt" || op == "shl"));
}

bool is_whole_sum(const Instruction& ins) {
  return is_any(ins, {"add", "sub"}) && !is_float(ins) && !ins.takes_carry &&
         !ins.gives_carry;
}
bool is_word_sum(const Instruction& ins) {
  return is_whole_sum(ins) && !is_long(ins);
}
bool is_logic(const Instruction& ins) {
  return is_any(ins, {"and", "or", "xor", "not"}) && !is_long(ins) &&
         !ins.statement->has("pred");
}
bool joins_conditions(const Instruction& ins) {
  return is_any(ins, {"and", "or", "xor", "not"}) && ins.statement->has("pred");
}

// Can the machine do both at once, the first for nobody but the second?
bool are_one(const Instruction& first, const Instruction& second) {
  if (is_any(first, {"neg", "abs"}) && is_float(first))
    return is_any(second, {"add", "sub", "mul", "fma", "setp", "min", "max"});
  if (is_any(first, {"mul"}) && is_float(first))
    return is_any(second, {"add", "sub"}) && is_float(second);
  if (is_word_sum(first))
    return is_word_sum(second) ||
           (is_any(second, {"min", "max"}) && !is_float(second));
  if (is_any(first, {"shl"}) && !is_long(first)) return is_word_sum(second);
  if (is_any(first, {"mul"}) && !first.statement->has("hi"))
    return is_word_sum(second);
  if (is_logic(first)) return is_logic(second);
  return false;
}

// In which block of the machine's each one is: a branch that became a predicate
// ends none.
std::vector<int> machine_blocks(const std::vector<Instruction>& code) {
  std::vector<bool> leads(code.size() + 1);
  for (size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& ins = code[pc];
    const bool goes_on = (ins.statement && ins.statement->left_out) ||
                         ins.skips_if_taken + ins.skips_if_not > 0 ||
                         (ins.guard == kNowhere && !ins.jumps);
    if (ins.kind == Kind::kBranch && !goes_on)
      leads[ins.target] = leads[pc + 1] = true;
    if (ins.kind == Kind::kReturn || ins.kind == Kind::kExit)
      leads[pc + 1] = true;
    for (uint32_t target : ins.targets()) leads[target] = leads[pc + 1] = true;
  }
  std::vector<int> block(code.size());
  int now = 0;
  for (size_t pc = 0; pc < code.size(); ++pc) block[pc] = now += leads[pc];
  return block;
}

class Weights {
 public:
  Weights(Function& f, const Program& program)
      : f_(f),
        program_(program),
        readers_(f),
        once_(f.written_once()),
        block_(machine_blocks(f.code)),
        in_loop_(in_loops(f.code)) {}

  void find() {
    for (Instruction& ins : f_.code)
      ins.machine_weight =
          ins.statement ? static_cast<uint8_t>(price_alone(*ins.statement)) : 1;
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      Instruction& ins = f_.code[pc];
      if (!ins.statement || !ins.pure || ins.result_count != 1 ||
          ins.guard != kNowhere || !once_.contains(ins.result(0)))
        continue;
      if (is_any(ins, {"mul"}) && ins.statement->has("wide"))
        make_addresses(ins);
      else if (is_any(ins, {"div", "rem"}))
        divide_again(ins);
      else if (joins_conditions(ins))
        ins.machine_weight = 0;  // the comparison does it
      else
        join(pc);
    }
    if (f_.text->entry) add_what_kernels_fetch();
  }

 private:
  // Its stack's address; how to reach global memory, and where shared memory
  // is; each parameter. And who returns early has left the kernel there.
  void add_what_kernels_fetch() {
    constexpr int kWhereShared = 3;
    auto& code = f_.code;
    add(0, 1);
    fetch_once(where([](const Instruction& ins) {
      return std::ranges::any_of(ins.addresses(), [](const Address& a) {
        return a.space == Space::kGlobal || a.space == Space::kGeneric;
      });
    }));
    fetch(kWhereShared,
          where([&](const Instruction& ins) { return names_shared(ins); }));
    for (const Instruction& ins : code) {
      if (!copies(ins) || !is(ins, "ld")) continue;
      const auto readers = readers_.of(ins.result(0));
      fetch(1, {readers.begin(), readers.end()});
    }
    for (uint32_t pc = 0; pc < code.size(); ++pc)
      if (leaves_early(pc)) leave_before(code[pc].target);
  }

  // Those that are left go by an exit of their own.
  void leave_before(uint32_t exit) {
    add(exit - 1, f_.code[exit].machine_weight);
    f_.code[exit].machine_weight = 0;
  }

  void add(uint32_t pc, int weight) {
    constexpr int kMost = UINT8_MAX;
    uint8_t& known = f_.code[pc].machine_weight;
    known = static_cast<uint8_t>(std::min(known + weight, kMost));
  }

  template <class Is>
  std::vector<uint32_t> where(Is is) const {
    std::vector<uint32_t> all;
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      if (is(f_.code[pc])) all.push_back(pc);
    return all;
  }

  // Where it is first used; or if several blocks do, before them.
  void fetch_once(const std::vector<uint32_t>& users) {
    if (users.empty()) return;
    const bool here = std::ranges::all_of(
        users, [&](uint32_t pc) { return block_[pc] == block_[users[0]]; });
    add(here ? users[0] : 0, 1);
  }
  // In each block again; but before the loops.
  void fetch(int weight, const std::vector<uint32_t>& users) {
    std::set<int> blocks;
    for (uint32_t pc : users) {
      const bool turns = in_loop_[pc];
      if (blocks.insert(turns ? 0 : block_[pc]).second)
        add(turns ? 0 : pc, weight);
    }
  }

  bool leaves_early(uint32_t pc) const {
    const Instruction& ins = f_.code[pc];
    if (ins.kind != Kind::kBranch || ins.guard == kNowhere) return false;
    const Kind to = f_.code[ins.target].kind;
    return to == Kind::kReturn || to == Kind::kExit;
  }

  bool names_shared(const Instruction& ins) const {
    return std::ranges::any_of(ins.addresses(),
                               [](const Address& a) {
                                 return a.space == Space::kShared &&
                                        a.base == kNowhere;
                               }) ||
           std::ranges::any_of(ins.sources(), [&](Place place) {
             return std::ranges::any_of(
                 program_.static_shared_at,
                 [&](const auto& one) { return one.at == place; });
           });
  }

  // Of a product and the sums that it goes into.
  void make_addresses(Instruction& product) {
    const auto readers = readers_.of(product.result(0));
    const bool into_sums = std::ranges::all_of(readers, [&](uint32_t reader) {
      return is_whole_sum(f_.code[reader]) && is_long(f_.code[reader]);
    });
    if (!into_sums || readers.empty()) return;
    product.machine_weight = 0;
    for (uint32_t reader : readers) f_.code[reader].machine_weight = 1;
  }

  // The quotient and the rest of the same numbers are found together.
  void divide_again(Instruction& ins) {
    constexpr int kSecond = 4;
    if (!divided_.emplace(ins.source(0), ins.source(1)).second)
      ins.machine_weight = std::min<int>(ins.machine_weight, kSecond);
  }

  void join(uint32_t pc) {
    const auto readers = readers_.of(f_.code[pc].result(0));
    if (readers.size() != 1 || block_[readers[0]] != block_[pc] ||
        readers[0] < pc)
      return;
    const Instruction& second = f_.code[readers[0]];
    if (second.statement && second.pure && are_one(f_.code[pc], second) &&
        taken_.insert(readers[0]).second && !taken_.contains(pc))
      f_.code[pc].machine_weight = 0;
  }

  Function& f_;
  const Program& program_;
  const Readers readers_;
  const std::set<Place> once_;
  const std::vector<int> block_;
  const std::vector<bool> in_loop_;
  std::set<uint32_t> taken_;  // has one in itself
  std::set<std::pair<Place, Place>> divided_;
};

}  // namespace

int price_alone(const Statement& s) {
  if (takes_none(s)) return 0;
  const auto fits = [&](const Price& price) {
    return s.name() == price.op && (!price.type || s.has(price.type)) &&
           (!price.modifier || s.has(price.modifier));
  };
  const auto* const price = std::ranges::find_if(kPrices, fits);
  return price == std::end(kPrices) ? 1 : price->instructions;
}

void weigh_instructions(Function& function, const Program& program) {
  Weights(function, program).find();
}

}  // namespace simt
