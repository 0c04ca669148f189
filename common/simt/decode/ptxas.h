// The model of ptxas, which makes machine code of the PTX after us: which
// branches become predicates, and how many instructions one becomes.
#pragma once
#include "common/simt/core/program.h"

namespace simt {

// Fills in Instruction::predicated, with what the branch skips, jumps and
// machine_weight. Needs Instruction::reconverge.
void apply_ptxas_model(Function& function);

}  // namespace simt
