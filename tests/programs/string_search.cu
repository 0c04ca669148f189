// Every place where a word occurs in a text, in any order.
#include <cuda.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

__constant__ char word[16];

__global__ void search(const char* text, int length, int word_length,
                       int* places, int* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + word_length > length) return;
  for (int k = 0; k < word_length; ++k) {
    if (text[i + k] != word[k]) return;
  }
  places[atomicAdd(found, 1)] = i;
}

int main() {
  const std::string wanted = "ana";
  std::string text;
  for (int i = 0; i < 60; ++i) text += i % 3 ? "banana " : "an analyst ran ";
  char* device_text;
  int *places, *found, count = 0;
  cudaMalloc(&device_text, text.size());
  cudaMalloc(&places, text.size() * sizeof(int));
  cudaMalloc(&found, sizeof(int));
  cudaMemcpy(device_text, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(word, wanted.data(), wanted.size());
  cudaMemset(found, 0, sizeof(int));
  search<<<((int)text.size() + 95) / 96, 96>>>(
      device_text, (int)text.size(), (int)wanted.size(), places, found);
  cudaMemcpy(&count, found, sizeof(int), cudaMemcpyDeviceToHost);
  std::vector<int> got(count), expected;
  cudaMemcpy(got.data(), places, count * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(got.begin(), got.end());
  for (size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    expected.push_back((int)at);
  }
  std::cout << '"' << wanted << "\" occurs " << count << " times, first at "
            << got[0] << ", last at " << got.back() << '\n';
  cudaFree(device_text);
  cudaFree(places);
  cudaFree(found);
  return got != expected;
}
