// Your dot(), and how much scratch it needs: dot.h beside this file says what
// they must do.

#include "common/check.h"
#include "common/classroom/tasks/dot/dot.h"

int64_t dot_scratch_floats(int64_t n) { return 0; }

void dot(const float* x, const float* y, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {}
