// Pi by throwing darts: a linear congruential generator in every thread.
#include <cuda.h>

#include <cmath>
#include <cstdio>

const int kThrows = 200;

__host__ __device__ unsigned hits_of(unsigned long long seed) {
  unsigned long long state = seed * 0x9e3779b97f4a7c15ull + 1;
  unsigned hits = 0;
  for (int i = 0; i < kThrows; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned x = (unsigned)(state >> 49);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned y = (unsigned)(state >> 49);
    if (x * x + y * y < 1u << 30) ++hits;
  }
  return hits;
}

__global__ void throw_darts(unsigned long long* total) {
  unsigned hits = hits_of(blockIdx.x * blockDim.x + threadIdx.x);
  for (int offset = 16; offset > 0; offset >>= 1) {
    hits += __shfl_xor_sync(0xffffffff, hits, offset);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)hits);
}

int main() {
  const int blocks = 8, threads = 128;
  unsigned long long *device, total = 0, expected = 0;
  cudaMalloc(&device, sizeof total);
  cudaMemset(device, 0, sizeof total);
  throw_darts<<<blocks, threads>>>(device);
  cudaMemcpy(&total, device, sizeof total, cudaMemcpyDeviceToHost);
  for (int i = 0; i < blocks * threads; ++i) expected += hits_of(i);
  double pi = 4.0 * total / (blocks * threads * (double)kThrows);
  printf("%llu hits, pi is about %.4f\n", total, pi);
  cudaFree(device);
  return total != expected || std::fabs(pi - 3.14159) > 0.02;
}
