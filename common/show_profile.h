// Nothing here is worth studying: the counters of each line, beside the source.
#pragma once

#include <vector>

#include "common/simt/observe/report.h"

namespace show {

// Prints every source file that the launches ran, lines together over all
// launches, then says which lines are far from the ideal, the worst first.
void print_profile(const std::vector<simt::LaunchReport>& launches);

}  // namespace show
