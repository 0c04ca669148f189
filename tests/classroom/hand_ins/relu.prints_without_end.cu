// Hostile: gigabytes on the standard output.
#include <unistd.h>

#include <vector>

#include "common/relu.h"

__attribute__((constructor)) void print() {
  const std::vector<char> much(1 << 20, 'x');
  while (write(1, much.data(), much.size()) > 0)
    ;
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
