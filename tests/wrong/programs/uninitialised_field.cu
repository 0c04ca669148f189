// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It is stored
//
// Two fields of three are set, one after the other, and then the third is used.
#include <cuda_runtime.h>

struct Colour {
  unsigned kind : 3, hue : 5, depth : 8, rest : 16;
};

__global__ void set_kernel(Colour* x) {
  x[threadIdx.x].kind = 1;
  __syncwarp();
  x[threadIdx.x].hue = threadIdx.x;
}

__global__ void depth_kernel(const Colour* x, unsigned* y) {
  const Colour one = x[threadIdx.x];                // <- here
  y[threadIdx.x] = one.kind + one.hue + one.depth;  // <- other
}

int main() {
  Colour* x = nullptr;
  unsigned* y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  set_kernel<<<1, 32>>>(x);
  depth_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
