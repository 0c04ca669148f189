// finds: race, says Only atomics
//
// A search that looks for vertices of the level it is just giving: who comes
// late finds more of them. All store the same, and yet the order matters.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, int* level, int vertices,
                              int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now) return;    // <- here
  if (level[next[v]] == -1) level[next[v]] = now;  // <- other
}

int main() {
  const int n = 512;
  int edges[n], levels[n], *next = nullptr, *level = nullptr;
  for (int v = 0; v < n; ++v) edges[v] = (v + 128) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 1;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  search_kernel<<<n / 128, 128>>>(next, level, n, 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
