// finds: race
//
// Triangles are drawn on one another, the nearest in front. Between the
// question and the store another block may store a nearer one.
#include <cuda_runtime.h>

__global__ void draw_kernel(unsigned* depth, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  const unsigned mine = (7 * blockIdx.x + x) % 5;
  if (mine < depth[y * width + x])  // <- other
    depth[y * width + x] = mine;    // <- here
}

int main() {
  constexpr int kWidth = 4;
  unsigned* depth = nullptr;
  cudaMalloc(&depth, 2 * kWidth * sizeof *depth);
  cudaMemset(depth, 255, 2 * kWidth * sizeof *depth);
  draw_kernel<<<8, dim3(kWidth, 2)>>>(depth, kWidth);
  return cudaDeviceSynchronize() != cudaSuccess;
}
