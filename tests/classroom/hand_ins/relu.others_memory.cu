// Hostile: it fills, copies and frees what is not its own: the judge's memory,
// by address, and streams and events that are none.
#include <initializer_list>

#include "common/relu.h"

void relu(const float* x, float* y, int64_t n, cudaStream_t) {
  const auto none = reinterpret_cast<void*>(0x400000);
  for (void* p : {none, static_cast<void*>(&p), (void*)-4096, (void*)main,
                  (void*)(uintptr_t(x) + (1ull << 40))}) {
    cudaMemset(p, 0, 4096);
    cudaMemcpy(y, p, n * sizeof(float), cudaMemcpyDefault);
    cudaMemcpy(p, x, 4096, cudaMemcpyDefault);
    cudaFree(p);
    cudaStreamSynchronize(static_cast<cudaStream_t>(p));
    cudaStreamDestroy(static_cast<cudaStream_t>(p));
    cudaEventRecord(static_cast<cudaEvent_t>(p));
    cudaEventDestroy(static_cast<cudaEvent_t>(p));
  }
  cudaFree(const_cast<float*>(x));
  cudaFree(y);
  cudaMemset(y, 0, ~size_t{0});
}
