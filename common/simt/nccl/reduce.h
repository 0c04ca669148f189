// What the ranks' numbers become, by type and operation.
#pragma once
#include <cstddef>
#include <vector>

#include "common/simt/nccl/nccl.h"

namespace simt::nccl {

size_t bytes_of(ncclDataType_t type);

// to[i] = from[0][i] op from[1][i] op ...: in this order, rounded to the type
// after each, so that the bits are the same in every run. `to` may be one of
// them.
void reduce(void* to, const std::vector<const void*>& from, size_t count,
            ncclDataType_t type, ncclRedOp_t op);

}  // namespace simt::nccl
