// A sum within one block, in the first form a course shows: neighbours at
// growing distance, in global memory.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

const int kN = 2048;

__global__ void sum_in_place(float* data, float* result) {
  unsigned int at = 2 * threadIdx.x;
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    if (threadIdx.x % stride == 0) data[at] += data[at + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = data[0];
}

int main() {
  size_t bytes = kN * sizeof(float);
  float* numbers = (float*)malloc(bytes);
  float expected = 0;
  for (int i = 0; i < kN; i++) {
    numbers[i] = (float)(i % 100);
    expected += numbers[i];
  }
  float *device_numbers, *device_result, result;
  cudaMalloc(&device_numbers, bytes);
  cudaMalloc(&device_result, sizeof(float));
  cudaMemcpy(device_numbers, numbers, bytes, cudaMemcpyHostToDevice);
  sum_in_place<<<1, kN / 2>>>(device_numbers, device_result);
  cudaMemcpy(&result, device_result, sizeof(float), cudaMemcpyDeviceToHost);
  printf("Sum of %d numbers: %.1f\n", kN, result);
  cudaFree(device_numbers);
  cudaFree(device_result);
  free(numbers);
  return result == expected ? 0 : 1;
}
