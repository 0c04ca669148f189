// Hostile: the assembler should put the solution into the program.
#include "common/relu.h"

asm(".globl stolen\nstolen: .incbin \"@ROOT@/chapters/03_pack/relu.cu\"");

void relu(const float*, float*, int64_t, cudaStream_t) {}
