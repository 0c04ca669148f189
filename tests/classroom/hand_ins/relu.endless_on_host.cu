// Hostile: a call does not come back.
#include "common/relu.h"

void relu(const float*, float*, int64_t, cudaStream_t) {
  for (volatile int k = 0;; ++k)
    ;
}
