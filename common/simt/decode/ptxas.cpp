// Of the model of ptxas: which branches it writes without a branch, and all its
// parts in their order.
#include "common/simt/decode/ptxas.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/company.h"
#include "common/simt/decode/reading.h"

namespace simt {
namespace {

constexpr PtxasModel kModel = kPtxas13;
constexpr int kTooLong = 200;  // in instructions of the PTX

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

// What ptxas would rather jump over than execute under a predicate: atomics,
// fences and divisions, which become many instructions.
bool needs_branch(const Instruction& ins) {
  if (ins.statement && ins.statement->left_out) return false;
  if (ins.kind != Kind::kPlain && ins.kind != Kind::kPoll) return true;
  if (!ins.statement) return false;
  const Statement& s = *ins.statement;
  const std::string& op = s.name();
  return op == "atom" || op == "red" || op == "membar" || op == "fence" ||
         op == "activemask" || checks_operands(s) ||
         (divides_exactly(s) && ins.machine_weight > kModel.most);
}

// Between threads: what orders copies, or a tensor map, waits for nothing.
bool is_fence(const Instruction& ins) {
  const std::string& op = ins.statement->name();
  return (op == "membar" || op == "fence") && ins.kind == Kind::kPoll;
}

// A condition that has a value without it, too, and so goes on to others.
bool brings_condition(const Instruction& ins,
                      const std::vector<Instruction>& code) {
  if (!is(ins, "setp")) return false;
  const std::vector<Place> conditions = written(ins);
  return std::ranges::any_of(code, [&](const Instruction& other) {
    return is(other, "mov") && other.statement->has("pred") &&
           std::ranges::count(conditions, written(other)[0]) > 0;
  });
}

bool stores_global(const Instruction& ins) {
  return ins.statement && ins.statement->name() == "st" &&
         !reaches_shared_only(*ins.statement);
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
  if (ins.statement->left_out) return 0;
  if (ins.made_bytes == Instruction::kNotMade) return 0;
  if (ins.predicated) return ins.skips_if_taken + ins.skips_if_not == 0;
  if (is_jump(ins)) return ins.jumps;
  return ins.machine_weight + (ins.made_again_after > 0) +
         ordering_instructions(ins);
}

// Registers that a load from global memory alone writes, and that are read only
// behind the branch: there the machine would wait for them.
class LateLoads {
 public:
  explicit LateLoads(const Function& f) : readers_(f) {
    const std::set<Place> once = f.written_once();
    for (uint32_t pc = 0; pc < f.code.size(); ++pc)
      if (loads_global(f.code[pc]))
        for (Place place : written(f.code[pc]))
          if (once.contains(place)) loaded_[place] = pc;
  }

  bool waits(const Instruction& ins, uint32_t branch) const {
    return std::ranges::any_of(
        read(ins), [&](Place place) { return comes_late(place, branch); });
  }

 private:
  bool comes_late(Place place, uint32_t branch) const {
    const auto load = loaded_.find(place);
    return load != loaded_.end() && load->second < branch &&
           std::ranges::all_of(readers_.of(place), [&](uint32_t reader) {
             return reader > branch;
           });
  }

  const Readers readers_;
  std::map<Place, uint32_t> loaded_;
};

// One of the two ways on from a branch to where they meet.
struct Side {
  int length = 0;         // in instructions of the PTX
  int machine = 0;        // in the machine's
  bool waits = false;     // for global memory
  bool computes = false;  // with what it has waited for
  bool stores = false;    // to global memory
  bool shares = false;    // reads or writes shared memory
  bool parts = false;     // has what needs a branch
  bool jumps = false;     // over other code
  std::set<Place> results;
};

Side side_of(const std::vector<Instruction>& code, const LateLoads& late,
             uint32_t branch, uint32_t pc, uint32_t end) {
  Side side;
  std::set<Place> loaded;  // here, and what is made of it
  walk(code, pc, end, [&](const Instruction& ins, bool ahead) {
    const auto places = read(ins);
    const bool from_load =
        loads_global(ins) || std::ranges::any_of(places, [&](Place place) {
          return loaded.contains(place);
        });
    if (from_load)
      for (Place place : written(ins)) loaded.insert(place);
    for (Place place : written(ins)) side.results.insert(place);
    side.waits |= loads_global(ins) || late.waits(ins, branch);
    side.computes |= from_load && ins.pure && !copies(ins);
    side.stores |= stores_global(ins);
    side.shares |= is_shared(ins);
    side.jumps |= ahead && ins.target != &ins - code.data() + 1;
    side.parts |= (!ahead && needs_branch(ins)) ||
                  (from_load && brings_condition(ins, code));
    ++side.length;
    side.machine += ahead ? 0 : machine_instructions(ins);
    return !side.parts && side.length < kTooLong;
  });
  return side;
}

bool are_short(const Side& a, const Side& b) {
  const auto fits = [&](const Side& side) {
    const int most = side.waits    ? kModel.most_with_global_load
                     : side.stores ? kModel.most_with_global_store
                                   : kModel.most;
    return !side.parts && side.length < kTooLong && side.machine <= most;
  };
  const bool waits = a.waits || b.waits;
  return fits(a) && fits(b) &&
         a.machine + b.machine <= (waits ? kModel.most_of_both_with_global_load
                                         : kModel.most_of_both);
}

// Would a predicate make all lanes wait, and for this alone? That is worth a
// branch.
bool wait_alone(const Side& a, const Side& b, uint32_t branch, bool in_loop,
                Company& company) {
  if (a.waits == b.waits || a.shares || b.shares) return false;
  std::set<Place> results = a.results;
  results.insert(b.results.begin(), b.results.end());
  const bool computes = a.computes || b.computes;
  return !company.of(
      branch, results,
      computes && !in_loop ? kModel.company_of_computing : kModel.company);
}

// Around a turn that unrolling made the first, or turns that it left over.
bool fits_over_turns(OverTurns turns, const Side& side) {
  const int most = !side.waits                 ? kModel.most_over_turns
                   : turns == OverTurns::kLast ? 0
                                               : kModel.most_with_global_load;
  return !side.parts && side.machine <= most;
}

bool ends_kernel(const std::vector<Instruction>& code, uint32_t pc) {
  while (jumps_ahead(code, pc)) pc = code[pc].target;
  const Kind kind = code[pc].kind;
  return (kind == Kind::kReturn || kind == Kind::kExit) &&
         code[pc].guard == kNowhere;
}

bool goes_where_the_next_goes(const std::vector<Instruction>& code,
                              uint32_t pc) {
  const Instruction& next = code[pc + 1];
  return next.kind == Kind::kBranch && next.guard != kNowhere &&
         next.target == code[pc].target;
}

// Where the kernel ends, if the way from here leads straight there.
std::optional<uint32_t> end_behind(const std::vector<Instruction>& code,
                                   uint32_t pc) {
  while (!ends_kernel(code, pc)) {
    const bool ahead = jumps_ahead(code, pc);
    if (!ahead && code[pc].kind != Kind::kPlain && code[pc].kind != Kind::kPoll)
      return {};
    pc = ahead ? code[pc].target : pc + 1;
  }
  while (is_jump(code[pc])) pc = code[pc].target;
  return pc;
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
  const LateLoads late(function);
  Company company(code);
  const std::vector<bool> repeated = in_loops(code);
  for (uint32_t pc = code.size(); pc-- > 0;) {
    Instruction& ins = code[pc];
    if (ins.kind != Kind::kBranch || ins.guard == kNowhere) continue;
    if (ins.statement && ins.statement->left_out) ins.predicated = true;
    if (ins.target <= pc) continue;
    if (function.text->entry &&
        (ends_kernel(code, ins.target) || ends_kernel(code, pc + 1))) {
      ins.predicated = true;  // @P EXIT
    } else if (goes_where_the_next_goes(code, pc)) {
      ins.predicated = true;  // one condition for both
    } else if (ins.reconverge != ~0u) {
      const Side taken = side_of(code, late, pc, ins.target, ins.reconverge);
      const Side other = side_of(code, late, pc, pc + 1, ins.reconverge);
      if (ins.target == ins.reconverge && other.jumps) continue;
      const OverTurns turns =
          ins.statement ? ins.statement->over_turns : OverTurns::kNone;
      if (turns != OverTurns::kNone
              ? !fits_over_turns(turns, other)
              : !are_short(taken, other) ||
                    wait_alone(taken, other, pc, repeated[pc], company))
        continue;
      ins.predicated = true;
      ins.skips_if_taken = static_cast<uint8_t>(other.length);
      ins.skips_if_not = static_cast<uint8_t>(taken.length);
      drop_jumps(code, ins.target, ins.reconverge);
      drop_jumps(code, pc + 1, ins.reconverge);
    } else if (const auto end = end_behind(code, pc + 1);
               function.text->entry && end) {
      const Side leaving = side_of(code, late, pc, pc + 1, *end);
      if (!are_short(leaving, {}) || leaving.machine > kModel.most_before_exit)
        continue;
      ins.predicated = true;
      ins.skips_if_taken = static_cast<uint8_t>(leaving.length);
    }
  }
}

// Where lanes part, the machine notes where they meet, and waits there.
void add_meetings(std::vector<Instruction>& code) {
  std::set<uint32_t> meetings;
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    Instruction& ins = code[pc];
    if (ins.kind != Kind::kBranch || ins.guard == kNowhere || ins.predicated ||
        ins.target <= pc || ins.reconverge >= code.size() ||
        !meetings.insert(ins.reconverge).second)
      continue;
    ++ins.machine_weight;
    ++code[ins.reconverge].machine_weight;
  }
}

void count_machine_sides(std::vector<Instruction>& code) {
  for (uint32_t pc = 0; pc < code.size(); ++pc) {
    Instruction& ins = code[pc];
    if (ins.skips_if_taken + ins.skips_if_not == 0) continue;
    if (ins.reconverge == ~0u) {  // One side leaves, by an exit of its own.
      ins.machine_if_taken =
          machine_side(code, pc + 1, *end_behind(code, pc + 1)) + 1;
      continue;
    }
    ins.machine_if_taken = machine_side(code, pc + 1, ins.reconverge);
    ins.machine_if_not = machine_side(code, ins.target, ins.reconverge);
  }
}

}  // namespace

bool loads_global(const Instruction& ins) {
  if (!ins.statement) return false;
  const std::string& op = ins.statement->name();
  return op == "tex" || op == "tld4" || op == "suld" ||
         (op == "cp" && ins.statement->has("async")) ||
         (op == "ld" && !reaches_shared_only(*ins.statement) &&
          !ins.statement->has("const"));
}

bool is_shared(const Instruction& ins) {
  return ins.statement && ins.statement->has("shared");
}

bool is_jump(const Instruction& ins) {
  return ins.kind == Kind::kBranch && ins.guard == kNowhere;
}

void apply_ptxas_model(Function& function, const Program& program) {
  auto& code = function.code;
  narrow_loads(function);
  join_accesses(function, program);
  find_jumps(function, code);
  weigh_instructions(function, program);
  find_predicated(function, code);
  weigh_instructions(function, program);  // blocks are longer now
  add_meetings(code);
  if (program.module->text.units[function.text->unit].fuses)
    fuse_products(function);
  count_machine_sides(code);
  for (Instruction& ins : code) {
    ins.machine_weight = static_cast<uint8_t>(machine_instructions(ins));
    ins.waits_at_meeting = ins.kind == Kind::kBranch;
  }
}

}  // namespace simt
