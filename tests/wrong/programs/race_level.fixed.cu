// finds: nothing
//
// The vertices to start from are another array, which nobody changes meanwhile.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, const int* frontier, int* level,
                              int vertices, int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || !frontier[v]) return;
  if (level[next[v]] == -1) level[next[v]] = now;
}

int main() {
  const int n = 512;
  int edges[n], levels[n], *next = nullptr, *level = nullptr;
  int* frontier = nullptr;
  for (int v = 0; v < n; ++v) edges[v] = (v + 128) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 1;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&frontier, sizeof levels);
  cudaMalloc(&level, sizeof levels);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  cudaMemset(frontier, 0, sizeof levels);
  cudaMemset(frontier, 1, sizeof *frontier);
  search_kernel<<<n / 128, 128>>>(next, frontier, level, n, 2);
  return cudaDeviceSynchronize() != cudaSuccess;
}
