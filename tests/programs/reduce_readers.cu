// Which thread reads what? An operation for chapter 12's engine that notes it.
#include <cstdio>
#include <vector>

#include "chapters/12_reduce/reduce.h"

// Each element is its own number.
struct Note {
  using In = int;
  using Acc = int;
  using Out = int;
  static constexpr bool kIndexed = false, kNeedsOne = false;

  int* reader;

  __device__ int identity() const { return 0; }
  __device__ int reduce(int, int element, int64_t) const {
    reader[element] = blockIdx.x * blockDim.x + threadIdx.x;
    return 0;
  }
  __device__ int combine(int, int) const { return 0; }
  __device__ int project(int, int64_t) const { return 0; }
};

bool show(int64_t rows, int64_t columns, int dim) {
  const int64_t n = rows * columns;
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i;
  int *x, *out, *readers;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&readers, n * sizeof(int));
  cudaMemcpy(x, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  const auto plan =
      reduction::plan_for<Note>(x, {{rows, columns}, {columns, 1}}, {dim}, out);
  const auto error =
      reduction::reduce(Note{readers}, plan, x, out, {}, nullptr);
  cudaMemcpy(numbers.data(), readers, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  cudaFree(readers);
  if (error) printf("%s\n", error);

  printf("%lld x %lld over dimension %d: teams of %d\n",
         static_cast<long long>(rows), static_cast<long long>(columns), dim,
         plan.members);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < columns; ++i)
      printf(" %d", numbers[row * columns + i]);
    printf("\n");
  }
  return error == nullptr;
}

int main() {
  bool right = show(4, 8, 1);
  right = show(4, 64, 1) && right;
  right = show(16, 32, 0) && right;
  return right ? 0 : 1;
}
