// Your row_sums(): row_sums.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/row_sums/row_sums.h"

void row_sums(const float* x, float* y, int64_t rows, int64_t columns,
              cudaStream_t stream) {}
