// Hostile: binaries of 100 MB, as many as can be.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  for (;;) {
    say(4, binary(std::string(100 << 20, 'x')));
    hear();
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
