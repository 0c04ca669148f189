// finds: race
//
// Whoever sees a vertex unvisited claims it by a swap, which is safe; but all
// who have seen it so are counted, too.
#include <cuda_runtime.h>

__global__ void visit(const int* next, int* level, int* queue, int* counts) {
  const int to = next[blockIdx.x * blockDim.x + threadIdx.x];
  if (level[to] != -1) return;               // <- here
  if (atomicCAS(&level[to], -1, 1) == -1) {  // <- other
    queue[atomicAdd(&counts[0], 1)] = to;
  }
  atomicAdd(&counts[1], 1);
}

int main() {
  const int n = 512;
  int edges[n], *next = nullptr, *level = nullptr, *queue = nullptr;
  int* counts = nullptr;
  for (int i = 0; i < n; ++i) edges[i] = i * 7 % 100;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof edges);
  cudaMalloc(&queue, sizeof edges);
  cudaMalloc(&counts, 2 * sizeof *counts);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemset(level, -1, sizeof edges);
  cudaMemset(counts, 0, 2 * sizeof *counts);
  visit<<<n / 128, 128>>>(next, level, queue, counts);
  return cudaDeviceSynchronize() != cudaSuccess;
}
