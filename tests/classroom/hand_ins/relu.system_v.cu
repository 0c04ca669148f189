// Hostile: memory that no process has, and that no process's end gives back.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdio>

#include "common/relu.h"

__attribute__((constructor)) void leave_memory() {
  const int mode = IPC_CREAT | 0600;
  std::printf("made: %d %d %d %d\n", shmget(IPC_PRIVATE, 1 << 30, mode),
              semget(IPC_PRIVATE, 100, mode), msgget(IPC_PRIVATE, mode),
              mq_open("/x", O_CREAT | O_RDWR, 0600, nullptr));
  std::fflush(stdout);
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
