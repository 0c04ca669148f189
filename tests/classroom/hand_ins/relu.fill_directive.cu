// Hostile: gigabytes from one line for the assembler.
#include "common/check.h"
#include "common/relu.h"

asm(".data\n.fill 0x7fffffff, 8, 1\n.text");

void relu(const float*, float*, int64_t, cudaStream_t) {}
