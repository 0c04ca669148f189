// Hostile: memory that is no process's: files that lie in memory and that
// nobody maps.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "common/relu.h"

__attribute__((constructor)) void take() {
  signal(SIGXFSZ, SIG_IGN);
  const std::vector<char> much(1 << 20, 'x');
  for (int k = 0; k < 5; ++k) fork();
  for (;;) {
    const int file = memfd_create("x", 0);
    while (file >= 0 && write(file, much.data(), much.size()) > 0)
      ;
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
