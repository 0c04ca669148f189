// Wrong: no barrier lies between a step of the tree and the next.
#include "common/check.h"
#include "common/sum.h"

constexpr int kBlock = 256, kTile = kBlock;

__global__ void sum_kernel(const float* x, float* sums, int64_t n) {
  __shared__ float tile[kTile];
  const int64_t i = int64_t{blockIdx.x} * kTile + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2)
    if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

int64_t blocks_for(int64_t n) { return n == 0 ? 1 : (n + kTile - 1) / kTile; }

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const int64_t grid = blocks_for(n);
  float* sums = grid == 1 ? out : scratch;
  sum_kernel<<<grid, kBlock, 0, stream>>>(x, sums, n);
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
