// The counters of each line, beside the source.
#pragma once

#include <string>
#include <vector>

#include "common/harness/show.h"
#include "common/simt/observe/report.h"

namespace show {

// What the executor reports of a launch, as ncu would tell it.
Launch launch_of(const simt::LaunchReport& report);

// Says which lines are far from the ideal, the worst first, then prints every
// source file that the launches ran, lines together over all launches.
void print_profile(const std::vector<simt::LaunchReport>& launches);

// As a path from here, if it is below.
std::string short_path(const std::string& file);

}  // namespace show
