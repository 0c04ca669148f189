// finds: nothing
//
// An event orders them.
#include <cuda_runtime.h>

__global__ void add_kernel(int* array, int n) { array[threadIdx.x] += n; }

__global__ void double_kernel(int* array) { array[threadIdx.x] *= 2; }

__global__ void parent_kernel(int* array) {
  cudaStream_t one, other;
  cudaEvent_t doubled;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&doubled, cudaEventDisableTiming);
  double_kernel<<<1, 64, 0, one>>>(array);
  cudaEventRecord(doubled, one);
  cudaStreamWaitEvent(other, doubled, 0);
  add_kernel<<<1, 64, 0, other>>>(array, 1);
  cudaEventDestroy(doubled);
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 1>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
