// Right: more shared memory than a kernel has without asking for it.
#include "common/check.h"
#include "common/sum.h"

constexpr int kBlock = 1024, kTile = 16 * kBlock;

__global__ void sum_kernel(const float* x, float* sums, int64_t n) {
  extern __shared__ float tile[];
  const int64_t first = int64_t{blockIdx.x} * kTile;
  for (int k = threadIdx.x; k < kTile; k += kBlock)
    tile[k] = first + k < n ? x[first + k] : 0.f;
  for (int stride = kTile / 2; stride > 0; stride /= 2) {
    __syncthreads();
    for (int k = threadIdx.x; k < stride; k += kBlock)
      tile[k] += tile[k + stride];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

int64_t blocks_for(int64_t n) { return n == 0 ? 1 : (n + kTile - 1) / kTile; }

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  constexpr int kBytes = kTile * sizeof(float);
  CUDA_CHECK(cudaFuncSetAttribute(
      sum_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const int64_t grid = blocks_for(n);
  float* sums = grid == 1 ? out : scratch;
  sum_kernel<<<grid, kBlock, kBytes, stream>>>(x, sums, n);
  CUDA_CHECK(cudaGetLastError());
  if (grid > 1) sum(sums, out, grid, sums + grid, stream);
}

int64_t sum_scratch_floats(int64_t n) {
  const int64_t grid = blocks_for(n);
  return grid == 1 ? 0 : grid + sum_scratch_floats(grid);
}

SumPromise sum_promise(int64_t n) {
  int64_t depth = 0;
  while (int64_t{1} << depth < n) ++depth;
  return {.depth = depth, .same_bits = true, .denormals = true};
}
