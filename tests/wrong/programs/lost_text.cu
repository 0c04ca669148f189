// finds: error, says lost text: the program ended without waiting for hello
//
// The program ends before its kernel has begun: a GPU prints nothing.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void hello() { printf("hello from thread %u\n", threadIdx.x); }

int main() {
  hello<<<1, 4>>>();
  return cudaGetLastError() != cudaSuccess;
}
