// Hostile: it asks the judge for one thing after the other.
#include "common/relu.h"

void relu(const float*, float*, int64_t, cudaStream_t) {
  for (int device;;) cudaPeekAtLastError(), cudaGetDevice(&device);
}
