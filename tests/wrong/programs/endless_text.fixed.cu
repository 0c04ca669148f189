// finds: nothing
//
// A text that printf is given ends with a zero.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void say_kernel() {
  __shared__ char text[8];
  for (int k = 0; k < 8; ++k) text[k] = k < 7 ? 'a' + k : 0;
  std::printf("%s\n", text);
}

int main() {
  say_kernel<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
