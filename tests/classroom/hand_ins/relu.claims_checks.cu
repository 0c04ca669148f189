// Hostile: it tells the judge that calls returned before they were made, and
// what came of them.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "common/relu.h"

struct Head {
  uint32_t kind, bytes;
};

__attribute__((constructor)) void claim() {
  const Head ready = {0, 0}, returned = {1, 0};
  send(3, &ready, sizeof ready, MSG_NOSIGNAL);
  for (int call = 0; call < 1'000'000; ++call)
    if (send(3, &returned, sizeof returned, MSG_NOSIGNAL) <= 0) break;
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
