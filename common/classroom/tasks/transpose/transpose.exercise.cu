// Your transpose(): transpose.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/transpose/transpose.h"

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream) {}
