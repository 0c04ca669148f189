// Hostile: operator new and delete are replaced, and the second frees nothing
// that was allocated.
#include <cstdlib>
#include <new>

#include "common/relu.h"

void* operator new(size_t) { return nullptr; }
void operator delete(void*) noexcept { std::abort(); }
void operator delete(void*, size_t) noexcept { std::abort(); }

void relu(const float*, float*, int64_t, cudaStream_t) {}
