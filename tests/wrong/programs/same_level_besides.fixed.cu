// finds: nothing
//
// A compare-and-swap gives the level, and who gives it stores the rest.
#include <cuda_runtime.h>

__global__ void search_kernel(const int* next, int* level, bool* is_next,
                              int* goes_on, int vertices, int now) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || atomicAdd(&level[v], 0) != now) return;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * v + k];
    if (atomicCAS(&level[to], -1, now + 1) == -1) {
      is_next[to] = true;
      atomicExch(goes_on, 1);
    }
  }
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  int* goes_on = nullptr;
  bool* is_next = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMalloc(&is_next, n);
  cudaMalloc(&goes_on, sizeof *goes_on);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  for (int now = 0; now < 12; ++now)
    search_kernel<<<n / 128, 128>>>(next, level, is_next, goes_on, n, now);
  return cudaDeviceSynchronize() != cudaSuccess;
}
