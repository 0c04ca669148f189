// Hostile: send(), read() and _exit() are its own, so that the grader's half of
// the program talks to itself.
#include <sys/types.h>

#include <cstring>

#include "common/relu.h"

extern "C" ssize_t read(int, void* to, size_t bytes) {
  std::memset(to, 0, bytes);
  return bytes;
}
extern "C" ssize_t send(int, const void*, size_t bytes, int) { return bytes; }
extern "C" void _exit(int) {
  for (;;)
    ;
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
