// Your argmax(), and how much scratch it needs: argmax.h beside this file says
// what they must do.

#include "common/check.h"
#include "common/classroom/tasks/argmax/argmax.h"

int64_t argmax_scratch_words(int64_t n) { return 0; }

void argmax(const float* x, int64_t* out, int64_t n, int64_t* scratch,
            cudaStream_t stream) {}
