// finds: note same value, says whichever comes first
//
// A breadth-first search: several threads find the same vertex, and all give it
// the same level; others look whether it has one yet. The vertex is read from
// the edges twice, and -G loads it twice.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, int* level, int vertices,
                              int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now) return;
  for (int k = 0; k < 3; ++k)
    if (level[next[3 * v + k]] < 0)
      level[next[3 * v + k]] = now + 1;  // <- here
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  for (int now = 0; now < 12; ++now)
    search_kernel<<<n / 128, 128>>>(next, level, n, now);
  return cudaDeviceSynchronize() != cudaSuccess;
}
