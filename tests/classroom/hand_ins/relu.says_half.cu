// Hostile: half a message, and no more.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  say(4, {}, 1000);
  for (;;) pause();
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
