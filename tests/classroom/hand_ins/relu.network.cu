// Hostile: it tells another machine, or another process of this one.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "common/relu.h"

__attribute__((constructor)) void tell() {
  sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
  for (const char* address : {"127.0.0.1", "1.1.1.1", "10.0.0.1"}) {
    inet_pton(AF_INET, address, &to.sin_addr);
    const int out = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(out, (sockaddr*)&to, sizeof to) == 0 &&
        send(out, "x", 1, 0) == 1)
      std::printf("told %s\n", address);
  }
  sockaddr_un local = {.sun_family = AF_UNIX};
  for (const char* path : {"/run/dbus/system_bus_socket", "/run/docker.sock"}) {
    std::strcpy(local.sun_path, path);
    const int out = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(out, (sockaddr*)&local, sizeof local) == 0)
      std::printf("told %s\n", path);
  }
  std::puts("told nobody else");
  std::fflush(stdout);
  _exit(1);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
