// Kernels that launch kernels (dynamic parallelism).
#pragma once
#include "common/simt/machine/launch.h"

namespace simt {

// Runs a kernel that may launch others, and those, and what they launch.
void run_nested(Kernel* kernel, const LaunchShape& shape, void** arguments);

}  // namespace simt
