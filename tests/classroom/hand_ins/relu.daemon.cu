// Hostile: a process that is nobody's child any more holds the socket, and
// stays when the others have ended.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "common/relu.h"

__attribute__((constructor)) void stay() {
  if (fork() == 0) {
    setsid();
    for (int k = 1; k < 64; ++k) signal(k, SIG_IGN);
    if (fork() > 0) _exit(0);
    for (;;) pause();
  }
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
