// Hostile: pragmas that the compiler might obey.
#pragma GCC optimize("no-such-thing")
#pragma GCC dependency "/etc/shadow"
#pragma push_macro("__global__")
#pragma GCC poison cudaLaunchKernel
#pragma comment(linker, "/entry:other")
#pragma nv_exec_check_disable
#include "common/relu.h"
#pragma GCC error "stops here"

void relu(const float*, float*, int64_t, cudaStream_t) {}
