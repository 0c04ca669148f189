// finds: out of bounds, block (0,0,0), thread (0,0,0), says a call reads
//
// A text that printf is given does not end with a zero.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void say_kernel() {
  __shared__ char text[8];
  for (int k = 0; k < 8; ++k) text[k] = 'a' + k;
  std::printf("%s\n", text);  // <- here
}

int main() {
  say_kernel<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
