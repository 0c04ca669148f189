// Hostile: it fills, copies and frees what is not its own: the judge's memory,
// by address, and streams and events that are none.
#include <cstdint>
#include <initializer_list>

#include "common/relu.h"

void relu(const float* x, float* y, int64_t n, cudaStream_t) {
  const uintptr_t here = reinterpret_cast<uintptr_t>(&n);
  for (const uintptr_t address :
       {uintptr_t{0x400000}, here, ~uintptr_t{4095},
        reinterpret_cast<uintptr_t>(x) + (uintptr_t{1} << 40)}) {
    void* const p = reinterpret_cast<void*>(address);
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
