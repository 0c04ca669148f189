// finds: nothing
//
// All that is done hangs on the swap. An old value makes it fail, and a new one
// takes the place of its failure.
#include <cuda_runtime.h>

__global__ void visit(const int* next, int* level, int* queue, int* count) {
  const int to = next[blockIdx.x * blockDim.x + threadIdx.x];
  if (level[to] != -1) return;
  if (atomicCAS(&level[to], -1, 1) == -1) queue[atomicAdd(count, 1)] = to;
}

__global__ void visit_both(const int2* next, int* level, int* queue,
                           int* count) {
  const int2 both = next[blockIdx.x * blockDim.x + threadIdx.x];
  bool first = level[both.x] == -1;
  if (first) first = atomicCAS(&level[both.x], -1, 1) == -1;
  if (first) queue[atomicAdd(count, 1)] = both.x;
  if (-1 == level[both.y] && -1 == atomicCAS(&level[both.y], -1, 1))
    atomicAdd(count, 1);
}

int main() {
  const int n = 512;
  int edges[2 * n], *level = nullptr, *queue = nullptr, *count = nullptr;
  int2* next = nullptr;
  for (int i = 0; i < 2 * n; ++i) edges[i] = i * 7 % 100;
  cudaMalloc(&next, sizeof edges);
  cudaMalloc(&level, sizeof edges);
  cudaMalloc(&queue, sizeof edges);
  cudaMalloc(&count, sizeof *count);
  cudaMemcpy(next, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof *count);
  cudaMemset(level, -1, sizeof edges);
  visit<<<n / 128, 128>>>(&next->x, level, queue, count);
  cudaMemset(level, -1, sizeof edges);
  visit_both<<<n / 128, 128>>>(next, level, queue, count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
