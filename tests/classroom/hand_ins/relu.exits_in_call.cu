// Hostile: the process ends well in the first call.
#include <cstdlib>

#include "common/relu.h"

void relu(const float*, float*, int64_t, cudaStream_t) { std::exit(0); }
