// Letters counted: a histogram of each block in shared memory, then one.
#include <cuda.h>

#include <cstring>
#include <iostream>
#include <string>

__global__ void histogram(const char* text, int length, unsigned int* bins) {
  __shared__ unsigned int mine[26];
  for (int bin = threadIdx.x; bin < 26; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length;
       i += gridDim.x * blockDim.x) {
    int letter = text[i] - 'a';
    if (letter >= 0 && letter < 26) atomicAdd(&mine[letter], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 26; bin += blockDim.x) {
    if (mine[bin] > 0) atomicAdd(&bins[bin], mine[bin]);
  }
}

int main() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "a histogram of each block, then one of the grid; ";
    text += (char)('a' + i % 26);
  }
  unsigned int expected[26] = {}, got[26] = {};
  for (char c : text) {
    if (c >= 'a' && c <= 'z') ++expected[c - 'a'];
  }
  char* device_text;
  unsigned int* bins;
  cudaMalloc(&device_text, text.size());
  cudaMalloc(&bins, sizeof got);
  cudaMemcpy(device_text, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof got);
  histogram<<<8, 128>>>(device_text, (int)text.size(), bins);
  cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 26; ++i) {
    std::cout << (char)('a' + i) << ' ' << got[i] << '\n';
  }
  cudaFree(device_text);
  cudaFree(bins);
  return std::memcmp(got, expected, sizeof got) != 0;
}
