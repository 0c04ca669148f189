// The model of ptxas, all of it: which branches it writes without a branch,
// and how many instructions it makes of one.
#include "common/simt/decode/ptxas.h"

#include <algorithm>
#include <set>

namespace simt {
namespace {

constexpr PtxasModel kModel = kPtxas13;
constexpr int kTooMany = kModel.most + 1;

bool reaches_shared_only(const Statement& s) {
  return s.has("shared") || s.has("local") || s.has("param");
}

// It becomes a dozen instructions, and a branch to code for extreme operands.
bool checks_operands(const Statement& s) {
  return (s.name() == "div" || s.name() == "sqrt") && s.has("rn") &&
         s.has("f32");
}

bool divides(const Statement& s) {
  return s.name() == "div" || s.name() == "rem";
}

bool divides_exactly(const Statement& s) {
  return divides(s) && !s.has("approx") && !s.has("full");
}

// By a variable: a constant divisor is a multiplication in the PTX already.
bool divides_integers(const Statement& s) {
  return divides(s) && (s.has("u32") || s.has("s32"));
}

bool is_long(const Statement& s) {
  return s.has("u64") || s.has("s64") || s.has("b64");
}

// The machine's registers have 32 bits.
bool takes_two(const Statement& s) {
  static const std::set<std::string> ops = {"add", "sub", "and", "or",
                                            "xor", "not", "shr", "setp"};
  return is_long(s) && ops.count(s.name());
}

// Parameters are operands from constant memory, registers are renamed, and a
// shift of an index goes into the addition that makes it an address.
bool takes_none(const Statement& s) {
  const std::string& op = s.name();
  const bool which_thread = s.text.find("%tid") != std::string::npos ||
                            s.text.find("%ctaid") != std::string::npos;
  return s.has("param") || op == "cvta" || (op == "mov" && !which_thread) ||
         (is_long(s) && (op == "cvt" || op == "shl"));
}

// What ptxas would rather jump over than execute under a predicate: stores to
// global memory, atomics, fences and divisions, which become many instructions.
bool needs_branch(const Instruction& ins) {
  if (ins.kind != Kind::kPlain && ins.kind != Kind::kPoll) return true;
  if (!ins.statement) return false;
  const Statement& s = *ins.statement;
  const std::string& op = s.name();
  return op == "atom" || op == "red" || op == "membar" || op == "fence" ||
         op == "activemask" || checks_operands(s) || divides_exactly(s) ||
         (op == "st" && !reaches_shared_only(s));
}

// Between threads: what orders copies, or a tensor map, waits for nothing.
bool is_fence(const Instruction& ins) {
  const std::string& op = ins.statement->name();
  return (op == "membar" || op == "fence") && ins.kind == Kind::kPoll;
}

bool compares(const Instruction& ins) {
  return ins.statement && ins.statement->name() == "setp";
}

bool loads_global(const Instruction& ins) {
  return ins.statement && ins.statement->name() == "ld" &&
         !reaches_shared_only(*ins.statement) && !ins.statement->has("const");
}

bool is_jump(const Instruction& ins) {
  return ins.kind == Kind::kBranch && ins.guard == kNowhere;
}

bool jumps_ahead(const std::vector<Instruction>& code, uint32_t pc) {
  return is_jump(code[pc]) && code[pc].target > pc;
}

// see(instruction, whether it jumps ahead) along the side of a branch that
// begins at `pc`, up to `end`, where the sides meet, or until it returns false.
template <class Code, class See>
void walk(Code& code, uint32_t pc, uint32_t end, See see) {
  while (pc != end) {
    const bool ahead = jumps_ahead(code, pc);
    if (!see(code[pc], ahead)) return;
    pc = ahead ? code[pc].target : pc + 1;
  }
}

// How many instructions a side has; kTooMany if it needs the branch.
int length_of_side(const std::vector<Instruction>& code, uint32_t pc,
                   uint32_t end) {
  int length = 0, most = kModel.most;
  walk(code, pc, end, [&](const Instruction& ins, bool ahead) {
    if (loads_global(ins)) most = std::min(most, kModel.most_with_global_load);
    if (compares(ins)) most = std::min(most, kModel.most_with_comparison);
    ++length;
    if ((!ahead && needs_branch(ins)) || length > most) length = kTooMany;
    return length < kTooMany;
  });
  return length;
}

bool ends_kernel(const std::vector<Instruction>& code, uint32_t pc) {
  while (jumps_ahead(code, pc)) pc = code[pc].target;
  const Kind kind = code[pc].kind;
  return (kind == Kind::kReturn || kind == Kind::kExit) &&
         code[pc].guard == kNowhere;
}

// Jumps at the end of a side that is no longer jumped over.
void drop_jumps(std::vector<Instruction>& code, uint32_t pc, uint32_t end) {
  walk(code, pc, end, [](Instruction& ins, bool ahead) {
    if (ahead) ins.jumps = false;
    return true;
  });
}

// Calls, returns and jumps are branches, too, that never part lanes. "@p bra
// over; bra there; over:" is one branch, with the condition reversed.
void find_jumps(const Function& function, std::vector<Instruction>& code) {
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    Instruction& ins = code[pc];
    const bool reversed = pc > 0 && code[pc - 1].kind == Kind::kBranch &&
                          code[pc - 1].guard != kNowhere &&
                          code[pc - 1].target == pc + 1;
    ins.jumps = ins.kind == Kind::kCall || ins.kind == Kind::kIndirect ||
                (ins.kind == Kind::kReturn && !function.text->entry) ||
                (ins.statement && checks_operands(*ins.statement)) ||
                (is_jump(ins) && ins.target != pc + 1 && !reversed &&
                 !(function.text->entry && ends_kernel(code, pc)));
  }
}

// How many more an order of memory takes. A fence that reaches beyond the block
// also waits for errors; to acquire is to drop what L1 holds.
int ordering_instructions(const Instruction& ins) {
  static const std::set<std::string> accesses = {"ld", "st", "red", "atom"};
  const int releasing = ins.for_block ? 1 : 3;
  if (accesses.count(ins.statement->name()))
    return ins.releases * releasing + ins.acquires;
  if (!is_fence(ins)) return 0;
  const bool acquires = !ins.for_block || ins.statement->has("acq_rel");
  return releasing + acquires - 1;
}

// How many instructions ptxas makes of one.
int machine_instructions(const Instruction& ins) {
  if (!ins.statement) return 1;
  if (ins.made_bytes == Instruction::kNotMade) return 0;
  if (ins.predicated) return ins.skips_if_taken + ins.skips_if_not == 0;
  if (is_jump(ins)) return ins.jumps;
  const Statement& s = *ins.statement;
  if (divides_integers(s)) return kModel.integer_division;
  if (takes_none(s)) return 0;
  const bool two = takes_two(s) || ins.made_again_after > 0;
  return (two ? 2 : 1) + ordering_instructions(ins);
}

// How many instructions ptxas makes of a side.
uint8_t machine_side(const std::vector<Instruction>& code, uint32_t pc,
                     uint32_t end) {
  uint8_t n = 0;
  walk(code, pc, end, [&](const Instruction& ins, bool ahead) {
    if (!ahead) n += machine_instructions(ins);
    return true;
  });
  return n;
}

void find_predicated(const Function& function, std::vector<Instruction>& code) {
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    Instruction& ins = code[pc];
    if (ins.statement && ins.statement->left_out) ins.predicated = true;
    if (ins.kind != Kind::kBranch || ins.guard == kNowhere || ins.target <= pc)
      continue;
    if (function.text->entry &&
        (ends_kernel(code, ins.target) || ends_kernel(code, pc + 1))) {
      ins.predicated = true;  // @P EXIT
    } else if (ins.reconverge != ~0u) {
      const int taken = length_of_side(code, ins.target, ins.reconverge);
      const int other = length_of_side(code, pc + 1, ins.reconverge);
      if (taken + other > kModel.most) continue;
      ins.predicated = true;
      ins.skips_if_taken = static_cast<uint8_t>(other);
      ins.skips_if_not = static_cast<uint8_t>(taken);
      drop_jumps(code, ins.target, ins.reconverge);
      drop_jumps(code, pc + 1, ins.reconverge);
    }
  }
}

void count_machine_sides(std::vector<Instruction>& code) {
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    Instruction& ins = code[pc];
    if (ins.skips_if_taken + ins.skips_if_not == 0) continue;
    ins.machine_if_taken = machine_side(code, pc + 1, ins.reconverge);
    ins.machine_if_not = machine_side(code, ins.target, ins.reconverge);
  }
}

}  // namespace

void apply_ptxas_model(Function& function, const Program& program) {
  auto& code = function.code;
  narrow_loads(function);
  join_accesses(function, program);
  find_jumps(function, code);
  find_predicated(function, code);
  if (program.module->text.units[function.text->unit].fuses)
    fuse_products(function);
  count_machine_sides(code);
  for (Instruction& ins : code)
    ins.machine_weight = static_cast<uint8_t>(machine_instructions(ins));
}

}  // namespace simt
