// finds: note same value, says whichever comes first
//
// Levels of breadth-first searches: several threads find the same vertex, and
// all give it the same level; others look whether it has the level before. One
// search is told the level, the other computes it, and asks for any negative
// one.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, int* level, int vertices,
                              int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now - 1) return;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * v + k];
    if (level[to] == -1) level[to] = now;  // <- here
  }
}

__global__ void frontier_kernel(const int* next, int* level, int vertices,
                                int now, bool* found) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now) return;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * v + k];
    if (level[to] < 0) {
      level[to] = now + 1;
      *found = true;
    }
  }
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  bool* found = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMalloc(&found, sizeof *found);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  for (int now = 1; now < 12; ++now)
    search_kernel<<<n / 128, 128>>>(next, level, n, now);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  for (int now = 0; now < 12; ++now)
    frontier_kernel<<<n / 128, 128>>>(next, level, n, now, found);
  return cudaDeviceSynchronize() != cudaSuccess;
}
