// finds: nothing
//
// Three fields are set, one after the other, and used. Nobody has set the rest.
#include <cuda_runtime.h>

struct Colour {
  unsigned kind : 3, hue : 5, depth : 8, rest : 16;
};

__global__ void set_kernel(Colour* x) {
  x[threadIdx.x].kind = 1;
  __syncwarp();
  x[threadIdx.x].hue = threadIdx.x;
  __syncwarp();
  x[threadIdx.x].depth = 7;
}

__global__ void depth_kernel(const Colour* x, unsigned* y) {
  const Colour one = x[threadIdx.x];
  y[threadIdx.x] = one.kind + one.hue + one.depth;
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
