// Hostile: an error's text is asked for, and a name has no end.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  say(21, std::vector<char>(5, char(0x7f)));
  hear();
  say(6, std::vector<char>(100, 'n'));
  hear();
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
