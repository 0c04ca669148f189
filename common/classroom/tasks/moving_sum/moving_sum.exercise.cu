// Your moving_sum(): moving_sum.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/moving_sum/moving_sum.h"

void moving_sum(const float* x, float* y, int64_t n, cudaStream_t stream) {}
