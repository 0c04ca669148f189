// Several files of device code become one module, as nvlink makes them one.
#pragma once
#include <vector>

#include "common/simt/core/ptx.h"

namespace simt {

// The outline of all of them together. What one file has for itself stays apart
// from what another calls the same. Throws Error, as nvlink would, for what two
// files define, and for what one wants and none has.
ModuleText link(const std::vector<PtxFile>& ptx);

}  // namespace simt
