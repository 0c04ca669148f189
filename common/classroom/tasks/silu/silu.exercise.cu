// Your silu(): silu.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/silu/silu.h"

void silu(const __half* x, __half* y, int64_t n, cudaStream_t stream) {}
