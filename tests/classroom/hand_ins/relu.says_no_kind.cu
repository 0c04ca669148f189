// Hostile: messages of kinds that there are not.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  for (const uint32_t kind : {999u, 0xffffffffu, 3u, 2u}) say(kind);
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
