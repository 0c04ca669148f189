// finds: nothing
//
// A queue holds the vertices of this level, so that nobody has to ask.
#include <cuda_runtime.h>

__global__ void search(const int* next, int* level, int now, const int* queue,
                       int count, int* later, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (int k = 0; k < 3; ++k) {
    const int to = next[3 * queue[i] + k];
    if (level[to] == -1 && atomicCAS(&level[to], -1, now + 1) == -1)
      later[atomicAdd(found, 1)] = to;
  }
}

int main() {
  const int n = 512;
  int edges[3 * n], levels[n], *next = nullptr, *level = nullptr;
  int *queues[2] = {}, *found = nullptr;
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + i / 5) % n;
  for (int v = 0; v < n; ++v) levels[v] = v ? -1 : 0;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof levels);
  cudaMalloc(&found, sizeof *found);
  for (int*& queue : queues) cudaMalloc(&queue, sizeof levels);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(level, levels, sizeof levels, cudaMemcpyHostToDevice);
  cudaMemset(queues[0], 0, sizeof *found);
  int count = 1;
  for (int now = 0; now < 8; ++now) {
    cudaMemset(found, 0, sizeof *found);
    search<<<(count + 127) / 128, 128>>>(next, level, now, queues[now % 2],
                                         count, queues[1 - now % 2], found);
    cudaMemcpy(&count, found, sizeof count, cudaMemcpyDeviceToHost);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
