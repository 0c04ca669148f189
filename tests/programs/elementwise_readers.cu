// Which thread takes what? A functor for chapter 13's engine that notes it.
#include <cstdio>
#include <vector>

#include "chapters/13_elementwise/elementwise.h"

// Each element is its own number.
struct Note {
  int* reader;

  __device__ int operator()(int element) const {
    reader[element] = blockIdx.x * blockDim.x + threadIdx.x;
    return element;
  }
};

// n elements in arrays that begin so many past an aligned address.
bool show(int64_t n, int64_t x_offset, int64_t y_offset) {
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i;
  int *x, *y, *readers;
  cudaMalloc(&x, (n + x_offset) * sizeof(int));
  cudaMalloc(&y, (n + y_offset) * sizeof(int));
  cudaMalloc(&readers, n * sizeof(int));
  cudaMemcpy(x + x_offset, numbers.data(), n * sizeof(int),
             cudaMemcpyHostToDevice);

  const int* const from = x + x_offset;
  const auto path = elementwise::path_of(n, y + y_offset, from);
  const auto error =
      elementwise::unary(Note{readers}, n, y + y_offset, from, nullptr);
  cudaMemcpy(numbers.data(), readers, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(readers);
  if (error) printf("%s\n", error);

  printf("x at %lld, y at %lld: packs of %d behind %lld\n",
         static_cast<long long>(x_offset), static_cast<long long>(y_offset),
         path.width, static_cast<long long>(path.head));
  for (const int reader : numbers) printf(" %d", reader);
  printf("\n");
  return error == nullptr;
}

int main() {
  constexpr int64_t kElements = 22;
  bool right = show(kElements, 0, 0);
  right = show(kElements, 1, 1) && right;
  right = show(kElements, 3, 1) && right;
  right = show(kElements, 1, 0) && right;
  return right ? 0 : 1;
}
