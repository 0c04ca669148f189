// What PTX holds for debuggers (-G): where functions were inlined. `.loc` tells
// that only in optimised code.
#pragma once
#include <string_view>

#include "common/simt/core/ptx.h"

namespace simt {

// Of two of its sections, between their braces. Files have the PTX's numbers.
InlinedCalls inlined_calls(std::string_view debug_abbrev,
                           std::string_view debug_info);

}  // namespace simt
