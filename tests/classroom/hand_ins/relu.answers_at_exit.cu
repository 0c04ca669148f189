// Hostile: the process ends well in the first call, and on its way out tells
// the judge that this call returned, and each one after it.
#include <cstdlib>

#include "common/relu.h"
#include "speak.h"

void answer() {
  for (;;) {
    say(1);  // kReturned
    hear();
  }
}

void relu(const float*, float*, int64_t, cudaStream_t) {
  std::atexit(answer);
  std::exit(0);
}
