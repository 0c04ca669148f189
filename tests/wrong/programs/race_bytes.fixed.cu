// finds: nothing
//
// Each thread sets its byte, and takes back what another one has set before
// they met.
#include <cuda_runtime.h>

__global__ void set_kernel(unsigned char* x) {
  const int i = threadIdx.x;
  x[i] = i + 1;
  __syncthreads();
  if (i % 3 == 0) x[i ^ 32] = 0;
}

int main() {
  unsigned char* x = nullptr;
  cudaMalloc(&x, 64);
  set_kernel<<<1, 64>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
