// Hostile: it brings a main() of its own, which ends well.
#include "common/relu.h"

int main() { return 0; }

void relu(const float*, float*, int64_t, cudaStream_t) {}
