// Copies that go on beside the threads that asked for them.
#pragma once
#include "common/simt/core/block.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// Makes those copies of a warp's lanes before which fewer than `behind` had
// begun.
void make_copies(Warp& warp, uint32_t mask, uint64_t behind);

// Makes a bulk copy; and tells its barrier, if it is of one.
void make_bulk(AsyncCopy& copy);
void bring_bulk(AsyncCopy& copy);

// The block ends: so do the copies that nobody has waited for.
void end_copies(Block& block);

// Decode cp.async, and cp.async.bulk, st.async and their kin, and waits; return
// false for any other opcode. The addresses are already there.
bool decode_async(const Statement& s, OperandReader& operands, Draft& ins);
bool decode_bulk(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
