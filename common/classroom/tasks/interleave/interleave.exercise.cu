// Your interleave(): interleave.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/interleave/interleave.h"

void interleave(const float* x, const float* y, float* pairs, int64_t n,
                cudaStream_t stream) {}
