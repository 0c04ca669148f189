// finds: nothing
//
// Colours are given in one array, and those of the launch before read in
// another.
#include <cuda_runtime.h>

constexpr int kNodes = 512, kNone = -1;

__global__ void give_colour(const int* rank, const int* before, int* colour,
                            int now) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (before[i] != kNone) return;
  bool is_greatest = true;
  for (int j = i - 3; j <= i + 3; ++j) {
    if (j < 0 || j >= kNodes || j == i) continue;
    const int theirs = before[j];
    if (theirs != kNone && theirs != now) continue;
    is_greatest = is_greatest && rank[i] > rank[j];
  }
  if (is_greatest) colour[i] = now + (i & 1);
}

int main() {
  int *rank = nullptr, *before = nullptr, *colour = nullptr;
  cudaMallocManaged(&rank, kNodes * sizeof *rank);
  cudaMallocManaged(&before, kNodes * sizeof *before);
  cudaMallocManaged(&colour, kNodes * sizeof *colour);
  for (int i = 0; i < kNodes; ++i) {
    rank[i] = i * 193 % kNodes;  // each number once
    colour[i] = kNone;
  }
  for (int now = 0; now < 14; now += 2) {
    cudaMemcpy(before, colour, kNodes * sizeof *colour, cudaMemcpyDefault);
    give_colour<<<kNodes / 128, 128>>>(rank, before, colour, now);
    cudaDeviceSynchronize();
  }
  return cudaGetLastError() != cudaSuccess;
}
