// What is found out about a function once it is decoded, before it runs.
#pragma once
#include "common/simt/core/program.h"

namespace simt {

// Of each instruction, and of the end: does a basic block begin there?
std::vector<bool> block_starts(const std::vector<Instruction>& code);

// Of each instruction: does a jump back lead over it?
std::vector<bool> in_loops(const std::vector<Instruction>& code);

// Fills in Instruction::reconverge: the immediate post-dominator of each
// branch, where the hardware's convergence barriers join its two sides.
void find_reconvergence(Function& function);

// Fills in Instruction::counted and run_length. Needs Instruction::reconverge.
void find_runs(Function& function);

// Fills in Instruction::atomic_form and commutes. `relocatable`: it will be
// linked with other code, with -rdc=true.
void find_atomic_forms(Function& function, bool relocatable);

// Fills in Instruction::waits_for_clock and Function::waits_for_memory.
void find_waits(Function& function);

// Fills in where values come from: Instruction::array and mask_is_active.
void find_origins(Function& function, const Program& program);

// Fills in what becomes of the values that loads bring: Instruction::guess,
// test and tested, and the strength of loads that wait.
void find_uses(Function& function, const Program& program);

// Of code that was not optimised, the first thing: a jump to what comes next
// does nothing.
void go_straight_on(Function& function);
// And what is passed to, and by, functions that are written out where they are
// called (where in the frame: how many bytes) is passed in registers.
void pass_in_registers(Function& function,
                       const std::map<uint32_t, uint32_t>& slots);
// And who reads a copy reads what was copied; who goes by the opposite of a
// condition goes by the condition. Needs Function::unwritten.
void see_through_copies(Function& function);

// CUB and Thrust compute with what idle threads never had, and drop it.
bool is_of_library(const std::string& function);

// Fills in Function::unwritten.
void find_unwritten(Function& function);

// Fills in Address::meant: libcu++ does atomics of one or two bytes on the word
// around them.
void find_words_around(Function& function, const Program& program);

// Lets those who read a copy of what never changes read that, and fills in
// Instruction::step. After all that is found out about the registers that its
// text names.
void leave_out_copies(Function& function);

// Fills in how undefined values spread: Instruction::spread and what follows.
void find_spread(Function& function);

}  // namespace simt
