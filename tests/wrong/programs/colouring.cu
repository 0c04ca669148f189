// finds: note same value, says whichever comes first
//
// Jones and Plassmann's colouring of a graph, one colour a launch. A thread may
// meet a neighbour without a colour, or already with the launch's own: neither
// makes it pass over the neighbour.
#include <cuda_runtime.h>

constexpr int kNodes = 512, kNone = -1;

__global__ void give_colour(const int* rank, int* colour, int now) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (colour[i] != kNone) return;
  bool is_greatest = true;
  for (int j = i - 3; j <= i + 3; ++j) {
    if (j < 0 || j >= kNodes || j == i) continue;
    const int theirs = colour[j];  // <- here
    if (theirs != kNone && theirs != now) continue;
    is_greatest = is_greatest && rank[i] > rank[j];
  }
  if (is_greatest) colour[i] = now;  // <- other
}

int main() {
  int *rank = nullptr, *colour = nullptr;
  cudaMallocManaged(&rank, kNodes * sizeof *rank);
  cudaMallocManaged(&colour, kNodes * sizeof *colour);
  for (int i = 0; i < kNodes; ++i) {
    rank[i] = i * 193 % kNodes;  // each number once
    colour[i] = kNone;
  }
  for (int now = 0; now < 7; ++now) {
    give_colour<<<kNodes / 128, 128>>>(rank, colour, now);
    cudaDeviceSynchronize();
  }
  for (int i = 1; i < kNodes; ++i)
    if (colour[i] == colour[i - 1]) return 1;
  return cudaGetLastError() != cudaSuccess;
}
