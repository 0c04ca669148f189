// Hostile: as root of a namespace of its own it could mount what no limit
// counts.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "common/relu.h"

__attribute__((constructor)) void mount_memory() {
  const bool is_root = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  mkdir("mine", 0700);
  const bool has_mounted = mount("", "mine", "tmpfs", 0, "size=8g") == 0;
  std::printf("%s, %s\n", is_root ? "a namespace" : "no namespace",
              has_mounted ? "mounted" : "nothing mounted");
  std::fflush(stdout);
  _exit(0);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
