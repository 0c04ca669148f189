// Hostile: it heeds no signal and stops in its first call.
#include <unistd.h>

#include <csignal>

#include "common/relu.h"

__attribute__((constructor)) void deaf() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
}

void relu(const float*, float*, int64_t, cudaStream_t) {
  for (;;) pause();
}
