// finds: note same value, says whichever comes first
//
// Beside the level, a thread stores what every thread that finds the vertex
// stores: that the search goes on, and that the vertex is of the next round.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, int* level, bool* is_next,
                              bool* goes_on, int vertices, int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != now) return;
  bool found = false;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * v + k];
    if (level[to] < 0) {    // <- here
      level[to] = now + 1;  // <- other
      is_next[to] = true;
      found = true;
    }
  }
  if (found) *goes_on = true;
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  bool *is_next = nullptr, *goes_on = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMalloc(&is_next, n);
  cudaMalloc(&goes_on, 1);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  for (int now = 0; now < 12; ++now)
    search_kernel<<<n / 128, 128>>>(next, level, is_next, goes_on, n, now);
  return cudaDeviceSynchronize() != cudaSuccess;
}
