// Hostile: a binary whose entry is so long that its end lies before its
// beginning.
#include "common/relu.h"
#include "speak.h"

__attribute__((constructor)) void speak() {
  std::vector<char> one = binary("none");
  const uint64_t bytes = uint64_t{0} - 64;
  std::memcpy(one.data() + 16 + 8, &bytes, sizeof bytes);
  say(4, one);
  hear();
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
