// finds: race, block (0,0,0)
//
// A pointer that may mean shared or global memory: in the one of both that is
// shared, threads read what others write.
#include <cuda_runtime.h>

__global__ void shift_kernel(float* scratch, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  float* const mine = i < 32 ? tile : scratch;
  mine[i] = i;                       // <- other
  if (i >= 32) y[i] = tile[i - 32];  // <- here
}

int main() {
  float *scratch = nullptr, *y = nullptr;
  cudaMalloc(&scratch, 64 * sizeof *scratch);
  cudaMalloc(&y, 64 * sizeof *y);
  shift_kernel<<<1, 64>>>(scratch, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
