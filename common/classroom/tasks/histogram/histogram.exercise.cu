// Your histogram(): histogram.h beside this file says what it must do.

#include "common/check.h"
#include "common/classroom/tasks/histogram/histogram.h"

void histogram(const uint8_t* x, uint32_t* counts, int64_t n,
               cudaStream_t stream) {}
