// Hostile: the assembler should put a file of the machine's into the program.
#include "common/relu.h"

asm(".globl stolen\nstolen: .incbin \"/etc/shadow\"");

void relu(const float*, float*, int64_t, cudaStream_t) {}
