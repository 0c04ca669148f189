// finds: nothing
//
// The host waits for the first stream; then the child has ended, too.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) { array[threadIdx.x] = 1; }

__global__ void parent_kernel(int* array) { child_kernel<<<1, 32>>>(array); }

__global__ void double_kernel(int* array) { array[threadIdx.x] *= 2; }

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 32 * sizeof *array);
  cudaMemset(array, 0, 32 * sizeof *array);
  cudaDeviceSynchronize();
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  parent_kernel<<<1, 1, 0, one>>>(array);
  cudaStreamSynchronize(one);
  double_kernel<<<1, 32, 0, other>>>(array);
  const bool failed = cudaDeviceSynchronize() != cudaSuccess;
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
  return failed;
}
