// Atomics that do not commute: they come in order on many threads, too.
#include <cstdio>
__global__ void mixed(unsigned* x, unsigned* sums) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sums + i % 7, i);
  if (i % 3 == 0) atomicMax(x + i % 5, i % 1000 * 977 % 4096);
  if (i % 3 == 1) atomicAdd(x + i % 5, i % 11);
  if (i % 3 == 2) atomicXor(x + i % 5, i);
}
int main() {
  unsigned* x;
  cudaMalloc(&x, 12 * sizeof *x);
  cudaMemset(x, 0, 12 * sizeof *x);
  mixed<<<1 << 10, 256>>>(x, x + 5);
  unsigned got[12];
  if (cudaMemcpy(got, x, sizeof got, cudaMemcpyDefault)) return 1;
  for (unsigned one : got) printf("%u ", one);
}
