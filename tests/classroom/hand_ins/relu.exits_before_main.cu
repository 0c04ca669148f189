// Hostile: the process ends well before main().
#include <unistd.h>

#include "common/relu.h"

__attribute__((constructor)) void leave() { _exit(0); }

void relu(const float*, float*, int64_t, cudaStream_t) {}
