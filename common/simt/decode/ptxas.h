// The model of ptxas, which makes machine code of the PTX after us: which loops
// it unrolls, which branches become predicates, how many instructions one
// becomes, and which accesses become one. So the counters can tell what the
// hardware sees.
//
// It is a guess from the outside. docs/executor.md says how often it is right;
// SIMT_PTXAS=off counts the PTX as it is.
#pragma once
#include <optional>

#include "common/simt/core/program.h"

namespace simt {

struct PtxasModel {
  // A branch is predicated if each of its sides has at most so many
  // instructions of the machine, and both together. One that waits for global
  // memory may have more: the loads can all begin at once. Other limits hold
  // around turns that unrolling leaves over, and in front of an exit.
  int most, most_with_global_store, most_with_global_load, most_of_both,
      most_of_both_with_global_load, most_over_turns, most_before_exit;
  // So many instructions behind it are company to a load: see company.h.
  int company, company_of_computing;
  // A loop that counts to a bound becomes one of four turns if it has at most
  // so many instructions, an access to memory being two of them. Loads are
  // worth longer loops: one from shared memory so many more.
  int most_unrolled, more_for_shared_load, most_unrolled_with_global_load;
  // One whose turns are known disappears: of so many instructions, up to so
  // many turns. A longer one becomes turns of so many instructions.
  struct Whole {
    int size, turns;
  } whole_loops[7];
  int most_in_part;
  uint64_t most_turns_known;
};

// ptxas 13.0 (V13.0.88) for sm_90. What it unrolls was found with small loops
// of every kind and length, and what it predicates with `if`s of every kind,
// length and surroundings; then both were tried on the programs of
// tests/parity.
constexpr PtxasModel kPtxas13 = {
    .most = 8,
    .most_with_global_store = 7,
    .most_with_global_load = 20,
    .most_of_both = 12,
    .most_of_both_with_global_load = 30,
    .most_over_turns = 6,
    .most_before_exit = 17,
    .company = 2,
    .company_of_computing = 1,
    .most_unrolled = 18,
    .more_for_shared_load = 5,
    .most_unrolled_with_global_load = 46,
    .whole_loops =
        {{2, 1451}, {4, 519}, {8, 241}, {16, 68}, {32, 20}, {64, 6}, {128, 2}},
    .most_in_part = 319,
    .most_turns_known = 65536};

// The function with its loops unrolled; or nothing if none of them is.
std::optional<FunctionText> unroll_loops(const FunctionText& text);

// Fills in Instruction::predicated, with what the branch skips, jumps,
// machine_weight and made_bytes, and fuses products with sums. Needs
// Instruction::reconverge.
void apply_ptxas_model(Function& function, const Program& program);

// How many instructions of the machine ptxas makes of one by itself.
int price_alone(const Statement& s);

// Parts of that: which loads become narrower, then which accesses become one,
// and which products and sums. The last needs Instruction::predicated.
void narrow_loads(Function& function);
void weigh_instructions(Function& function, const Program& program);
void join_accesses(Function& function, const Program& program);
void fuse_products(Function& function);

// Fills in Instruction::one_for_all. Needs Instruction::atomic_form.
void find_elected(Function& function, const Program& program);

}  // namespace simt
