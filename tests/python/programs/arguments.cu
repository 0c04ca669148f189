// For make program: a header, a flag, arguments; and, without those, a finding.
#include <cstdio>

#include "own.h"
int twice(int);
__global__ void mark_kernel(int* x) { *x = N; }  // N is not in any file
__global__ void wrong_kernel(int* x) { x[1] = 0; }
int main(int argc, char** argv) {
  int* x;
  cudaMallocManaged(&x, sizeof *x);
  mark_kernel<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  std::printf("%d %d %ld", twice(*x), OWN, __cplusplus);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  if (argc == 1) wrong_kernel<<<1, 1>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
