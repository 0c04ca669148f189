// Wrong on purpose: the tiles' sums are not added up.

#include <algorithm>

#include "common/check.h"
#include "common/classroom/tasks/dot/dot.h"

namespace {

constexpr int kBlock = 256;
constexpr int kEach = 32;  // Products that a thread adds up by itself.
constexpr int kTile = kEach * kBlock;

// The second level, where no products are left, has no y.
__global__ void dot_kernel(const float* __restrict__ x,
                           const float* __restrict__ y, float* tiles,
                           float* sums, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;
  float* tile = tiles + int64_t{blockIdx.x} * kBlock;

  float sum = 0.f;
  for (int k = 0; k < kEach; ++k) {
    const int64_t i = first + k * kBlock;
    if (i < n) sum += y ? x[i] * y[i] : x[i];
  }
  tile[threadIdx.x] = sum;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * stride) == 0)
      tile[threadIdx.x] += tile[threadIdx.x + stride];
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) sums[blockIdx.x] = tile[0];
}

// One block at least: an empty sum is written, too.
int64_t blocks_for(int64_t n) {
  return std::max<int64_t>(1, (n + kTile - 1) / kTile);
}

void add_up(const float* x, const float* y, float* out, int64_t n,
            float* scratch, cudaStream_t stream) {
  const int64_t grid = blocks_for(n);
  dot_kernel<<<grid, kBlock, 0, stream>>>(x, y, scratch, out, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

int64_t dot_scratch_floats(int64_t n) {
  const int64_t grid = blocks_for(n);
  return grid * kBlock + (grid == 1 ? 0 : grid + dot_scratch_floats(grid));
}

void dot(const float* x, const float* y, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  add_up(x, y, out, n, scratch, stream);
}
