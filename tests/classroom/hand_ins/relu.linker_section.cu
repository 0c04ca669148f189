// Hostile: words for the linker and the loader, in sections of the object file.
#include "common/check.h"
#include "common/relu.h"

asm(".section .init_array,\"aw\"\n.quad 1\n.text");
asm(".section .interp,\"a\"\n.string \"/room/other\"\n.text");

void relu(const float*, float*, int64_t, cudaStream_t) {}
