// finds: division by zero, block (0,0,0), thread (3,0,0), says It is stored
//
// The mean of each bin: nothing fell into one of them.
#include <cuda_runtime.h>

constexpr int kBins = 32;

__global__ void mean_kernel(const int* sums, const int* counts, int* means) {
  const int i = threadIdx.x;
  const int mean = sums[i] / counts[i];  // <- here
  means[i] = mean + 1;                   // <- other
}

int main() {
  int *sums = nullptr, *counts = nullptr, *means = nullptr;
  cudaMalloc(&sums, kBins * sizeof *sums);
  cudaMalloc(&counts, kBins * sizeof *counts);
  cudaMalloc(&means, kBins * sizeof *means);
  cudaMemset(sums, 1, kBins * sizeof *sums);
  cudaMemset(counts, 1, kBins * sizeof *counts);
  cudaMemset(counts + 3, 0, sizeof *counts);
  mean_kernel<<<1, kBins>>>(sums, counts, means);
  return cudaDeviceSynchronize() != cudaSuccess;
}
