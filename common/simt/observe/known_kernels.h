// What libraries' kernels are known to get right though the checker cannot see
// why. PTX does not tell: they are recognised by their names.
#pragma once
#include "common/simt/core/program.h"
#include "common/simt/observe/mine.h"
#include "common/simt/observe/undefined.h"

namespace simt {

bool has_looked_back(const Program& program, const Mine& mine,
                     const Event& event);
bool compares_behind_the_end(const Program& program, const Origin& origin);

}  // namespace simt
