// Hostile: the compiler's messages should show a file of the machine's.
#include "/etc/passwd"
#include "common/relu.h"

void relu(const float*, float*, int64_t, cudaStream_t) {}
