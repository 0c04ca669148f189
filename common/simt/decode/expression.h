// Constant expressions of whole numbers: 4*16, (1<<5)-1, WARP_SZ/2.
#pragma once
#include <vector>

#include "common/simt/core/literals.h"
#include "common/simt/decode/tokens.h"

namespace simt {

// The number that begins at tokens[at], and moves `at` behind it. A number by
// itself may be one of floating point. Throws Error for what is no number.
Literal constant_expression(const std::vector<Token>& tokens, size_t& at);

}  // namespace simt
