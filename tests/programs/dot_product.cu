// A dot product with cooperative groups: tiles of a warp, then the block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda.h>

#include <iostream>
#include <vector>

namespace cg = cooperative_groups;

__global__ void dot(const int* a, const int* b, long long* result, int n) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  __shared__ long long sums[32];
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    sum += (long long)a[i] * b[i];
  }
  sum = cg::reduce(tile, sum, cg::plus<long long>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  block.sync();
  if (tile.meta_group_rank() != 0) return;
  sum = tile.thread_rank() < tile.meta_group_size() ? sums[tile.thread_rank()]
                                                    : 0;
  sum = cg::reduce(tile, sum, cg::plus<long long>());
  if (tile.thread_rank() == 0) {
    atomicAdd((unsigned long long*)result, (unsigned long long)sum);
  }
}

int main() {
  const int n = 5000;
  std::vector<int> a(n), b(n);
  long long expected = 0, got = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = i * 991 - 100000;
    b[i] = 50000 - i * 77;
    expected += (long long)a[i] * b[i];
  }
  int *da, *db;
  long long* result;
  cudaMalloc(&da, n * sizeof(int));
  cudaMalloc(&db, n * sizeof(int));
  cudaMalloc(&result, sizeof got);
  cudaMemcpy(da, a.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof got);
  dot<<<4, 256>>>(da, db, result, n);
  cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost);
  std::cout << "a . b = " << got << '\n';
  cudaFree(da);
  cudaFree(db);
  cudaFree(result);
  return got != expected;
}
