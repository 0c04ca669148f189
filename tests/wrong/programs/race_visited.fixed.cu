// finds: nothing
//
// Who sets the bit counts the vertex.
#include <cuda_runtime.h>

__global__ void visit(const int* vertex, unsigned* visited, int* count) {
  const int v = vertex[blockIdx.x * blockDim.x + threadIdx.x];
  if (atomicExch(&visited[v], 1) == 0) atomicAdd(count, 1);
}

int main() {
  const int n = 512;
  int found[n], *vertex = nullptr, *count = nullptr;
  unsigned* visited = nullptr;
  for (int i = 0; i < n; ++i) found[i] = i / 3 % 100;
  cudaMalloc(&vertex, sizeof found);
  cudaMalloc(&visited, 100 * sizeof *visited);
  cudaMalloc(&count, sizeof *count);
  cudaMemcpy(vertex, found, sizeof found, cudaMemcpyHostToDevice);
  cudaMemset(visited, 0, 100 * sizeof *visited);
  cudaMemset(count, 0, sizeof *count);
  visit<<<n / 128, 128>>>(vertex, visited, count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
