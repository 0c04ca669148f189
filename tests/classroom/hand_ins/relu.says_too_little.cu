// Hostile: each kind of message, with nothing in it, or with ones only.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  static int which = getpid() % 60;
  say(4 + which / 2, std::vector<char>(which % 2 * 64, char(0xff)));
  hear();
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
