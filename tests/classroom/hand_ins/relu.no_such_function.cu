// Wrong: what the contract asks for is not defined.
#include "common/check.h"
#include "common/relu.h"

void rely(const float*, float*, int64_t, cudaStream_t) {}
