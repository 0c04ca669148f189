// Loads, stores and atomics: which handler runs them, and how lanes' addresses
// become places in the host's memory.
#pragma once
#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/core/program.h"
#include "common/simt/isa/arithmetic.h"

namespace simt {

// The state space that a statement names.
Space space_of(const Statement& s);

// Finds the places for lanes of `mask`, or for those of them (a.mask) that mean
// the same space as the first. Ends the kernel where one must not be accessed.
// `alignment` is a power of two.
void find_places(Warp& warp, const Instruction& ins, uint32_t mask,
                 uint32_t alignment, Access& a);

// The same for one lane's place in global memory that no operand names.
void find_global(Warp& warp, const Instruction& ins, int lane, uint64_t address,
                 Access& a);

// The same for an access about to be done: whoever watches is told.
void resolve(Warp& warp, const Instruction& ins, uint32_t mask, Access& a);

// What makes one thing of an element that is there and one that comes.
AsyncCopy::Reduction reduction_of(Type type);
AsyncCopy::Reduction tensor_reduction_of(Type type);
Update update_of(const Statement& s);

// Decodes ld, st, atom, red, cvta, isspacep, prefetch, discard, fences. Their
// addresses are already there. Returns false for any other opcode.
bool decode_memory(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
