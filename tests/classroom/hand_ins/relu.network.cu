// Hostile: it tells another machine, or a process of this one that listens.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/relu.h"

__attribute__((constructor)) void tell() {
  for (const char* address : {"127.0.0.1", "1.1.1.1", "10.0.0.1"}) {
    sockaddr_in to = {.sin_family = AF_INET,
                      .sin_port = htons(std::atoi("@PORT@"))};
    inet_pton(AF_INET, address, &to.sin_addr);
    const auto* where = reinterpret_cast<const sockaddr*>(&to);
    const int out = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(out, where, sizeof to);
    usleep(100'000);
    if (connect(out, where, sizeof to) == 0) std::printf("told %s\n", address);
  }
  std::puts("told nobody");
  std::fflush(stdout);
  _exit(1);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
