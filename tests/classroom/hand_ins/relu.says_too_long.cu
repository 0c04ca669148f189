// Hostile: a message that is 4 GB long, says its length.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  say(4, std::vector<char>(1 << 20), 0xffffffff);
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
