// finds: note same value, says whichever comes first
//
// A vertex of the next level is claimed by a swap, while others ask whether it
// is of this level: it is not, before or after.
#include <cuda_runtime.h>

__global__ void search(const int* next, int* level, int now, int* found) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (level[v] != now) return;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * v + k];
    if (level[to] == -1 && atomicCAS(&level[to], -1, now + 1) == -1)  // <- here
      atomicAdd(found, 1);
  }
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  int* found = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMalloc(&found, sizeof *found);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  cudaMemset(found, 0, sizeof *found);
  for (int now = 0; now < 8; ++now)
    search<<<n / 128, 128>>>(next, level, now, found);
  return cudaDeviceSynchronize() != cudaSuccess;
}
