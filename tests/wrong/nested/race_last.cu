// finds: race between grids, block (0,0,0), thread (0,0,0), says of block
//
// The last block launches a child for what all blocks have written; but they
// make no fence before they count.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array, int* sum) {
  for (int k = 0; k < 4; ++k) *sum += array[k];  // <- here
}

__global__ void parent_kernel(int* array, unsigned* arrived, int* sum) {
  array[blockIdx.x] = blockIdx.x + 1;  // <- other
  const bool last = atomicAdd(arrived, 1) == gridDim.x - 1;
  if (last) child_kernel<<<1, 1>>>(array, sum);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 6 * sizeof *array);
  cudaMemset(array, 0, 6 * sizeof *array);
  auto* arrived = reinterpret_cast<unsigned*>(array + 4);
  parent_kernel<<<4, 1>>>(array, arrived, array + 5);
  return cudaDeviceSynchronize() != cudaSuccess;
}
