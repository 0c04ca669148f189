// finds: nothing
//
// It waits for the last kernel that prints; an event will do, too.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void hello() { printf("hello from thread %u\n", threadIdx.x); }

int main() {
  hello<<<1, 4>>>();
  cudaDeviceSynchronize();
  hello<<<1, 4>>>();
  cudaEvent_t done = nullptr;
  cudaEventCreate(&done);
  cudaEventRecord(done);
  return cudaEventSynchronize(done) != cudaSuccess;
}
