// Its kernel calls a function of other_part.cu and changes a number there.
#include <cstdio>
extern __device__ int factor;
static __device__ int shift = 5;
__device__ int times(int);
static __global__ void kernel() { printf("%d ", times(10) + shift); }
int main() {
  int n = 4;
  kernel<<<1, 1>>>();
  cudaMemcpyToSymbol(factor, &n, sizeof n);
  kernel<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
