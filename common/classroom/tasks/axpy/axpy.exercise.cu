// Your axpy(): axpy.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/axpy/axpy.h"

void axpy(float a, const float* x, float* y, int64_t n, cudaStream_t stream) {}
