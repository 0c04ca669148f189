// Your reverse(): reverse.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/reverse/reverse.h"
#include "common/grid.h"

void reverse(const float* x, float* y, int64_t n, cudaStream_t stream) {}
