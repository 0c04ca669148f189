// Hostile: the solution is included by every path that comes to mind.
#include "common/relu.h"

#define TRY(path) __has_include(path)
#if TRY("chapters/03_pack/relu.cu")
#include "chapters/03_pack/relu.cu"
#elif TRY("../chapters/03_pack/relu.cu")
#include "../chapters/03_pack/relu.cu"
#elif TRY("../../chapters/03_pack/relu.cu")
#include "../../chapters/03_pack/relu.cu"
#elif TRY("/contract/chapters/03_pack/relu.cu")
#include "/contract/chapters/03_pack/relu.cu"
#elif TRY("common/../chapters/03_pack/relu.cu")
#include "common/../chapters/03_pack/relu.cu"
#elif TRY("/proc/self/cwd/../chapters/03_pack/relu.cu")
#include "/proc/self/cwd/../chapters/03_pack/relu.cu"
#elif TRY("/proc/1/cwd/chapters/03_pack/relu.cu")
#include "/proc/1/cwd/chapters/03_pack/relu.cu"
#elif TRY("/old/chapters/03_pack/relu.cu")
#include "/old/chapters/03_pack/relu.cu"
#elif TRY("@ROOT@/chapters/03_pack/relu.cu")
#include "@ROOT@/chapters/03_pack/relu.cu"
#elif TRY("@RESULTS@/session.json") || TRY("/etc/shadow") || \
    TRY("/etc/hostname")
#error "seen"
#else
#error "nothing is seen"
#endif

void relu(const float*, float*, int64_t, cudaStream_t) {}
