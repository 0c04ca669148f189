// What the lanes of a warp or block do together: shuffles, votes, matches,
// reductions, barriers; and the calls that the "system" answers.
#pragma once
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// Decodes shfl, vote, match, redux, bar, activemask and elect; returns false
// for any other opcode. The last source of a collective is the member mask. A
// barrier's are its number, how many threads it waits for, and a predicate.
bool decode_collective(const Statement& s, OperandReader& operands, Draft& ins);

// vprintf, malloc, free, __assertfail: null if there is no such call.
Handler system_call(const std::string& name);

}  // namespace simt
