// Hostile: it includes itself, many times over.
#include "common/relu.h"
#ifdef __INCLUDE_LEVEL__
#if __INCLUDE_LEVEL__ < 60
#include __FILE__
#include __FILE__
#endif
#endif

void relu(const float*, float*, int64_t, cudaStream_t) {}
