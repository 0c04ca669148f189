// Hostile: threads without end.
#include <pthread.h>
#include <unistd.h>

#include "common/relu.h"

void* wait(void*) { return pause(), nullptr; }

__attribute__((constructor)) void storm() {
  for (pthread_t thread;;) pthread_create(&thread, nullptr, wait, nullptr);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
