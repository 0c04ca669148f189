// Hostile: gigabytes of static data.
#include "common/check.h"
#include "common/relu.h"

char much[3ull << 30] = {1};

void relu(const float*, float*, int64_t, cudaStream_t) {}
