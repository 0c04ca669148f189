// Loads that wait for a value to change.
#pragma once
#include <cstdint>
#include <vector>

#include "common/simt/decode/definitions.h"

namespace simt {

// Finds volatile loads that wait for a flag: they are as strong as atomics.
void find_flags(Function& f, const Definitions& definitions,
                const std::vector<uint32_t>& loads);

// Of a strong one that waits, the branch that ends its loop, if the way there
// is straight: Function::waits.
void find_end(Function& f, const Definitions& definitions, uint32_t pc);

}  // namespace simt
