// NVIDIA's own building blocks: CUB reduces a device array, and a block.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

__global__ void block_sums(const int* in, int* out, int n) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage scratch;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = Reduce(scratch).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main() {
  const int n = 30000;
  std::vector<int> in(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i] = i * 7919 % 1000 - 400;
  int *device_in, *device_out;
  cudaMalloc(&device_in, n * sizeof(int));
  cudaMalloc(&device_out, n * sizeof(int));
  cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(scratch, bytes, device_in, device_out, n);
  cudaMalloc(&scratch, bytes);
  cub::DeviceReduce::Sum(scratch, bytes, device_in, device_out, n);
  int device_sum = 0;
  cudaMemcpy(&device_sum, device_out, sizeof(int), cudaMemcpyDeviceToHost);

  const int blocks = (n + 127) / 128;
  block_sums<<<blocks, 128>>>(device_in, device_out, n);
  std::vector<int> sums(blocks);
  cudaMemcpy(sums.data(), device_out, blocks * sizeof(int),
             cudaMemcpyDeviceToHost);
  int from_blocks = 0;
  for (int part : sums) from_blocks += part;

  printf("DeviceReduce %d, BlockReduce %d\n", device_sum, from_blocks);
  cudaFree(scratch);
  cudaFree(device_in);
  cudaFree(device_out);
  return device_sum != sum || from_blocks != sum ||
         cudaGetLastError() != cudaSuccess;
}
