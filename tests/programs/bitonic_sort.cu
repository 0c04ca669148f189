// Bitonic sort, one launch for each step of the network.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void bitonic_step(unsigned* values, int distance, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int other = i ^ distance;
  if (other <= i) return;
  bool ascending = (i & size) == 0;
  unsigned a = values[i], b = values[other];
  if ((a > b) == ascending) {
    values[i] = b;
    values[other] = a;
  }
}

int main() {
  const int n = 1024;
  std::vector<unsigned> values(n);
  unsigned state = 12345;
  for (unsigned& value : values) value = state = state * 1664525u + 1013904223u;
  unsigned* device;
  cudaMalloc(&device, n * sizeof(unsigned));
  cudaMemcpy(device, values.data(), n * sizeof(unsigned),
             cudaMemcpyHostToDevice);
  for (int size = 2; size <= n; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      bitonic_step<<<n / 256, 256>>>(device, distance, size);
    }
  }
  std::vector<unsigned> sorted(n);
  cudaMemcpy(sorted.data(), device, n * sizeof(unsigned),
             cudaMemcpyDeviceToHost);
  std::sort(values.begin(), values.end());
  printf("smallest %u, median %u, largest %u\n", sorted[0], sorted[n / 2],
         sorted[n - 1]);
  cudaFree(device);
  return sorted != values;
}
