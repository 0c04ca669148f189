// Slow on purpose: the tree of chapter 06, and it begins with every number.
// Misses: active threads per warp instruction, load requests, store requests.

#include <algorithm>

#include "common/check.h"
#include "common/classroom/tasks/argmax/argmax.h"

namespace {

constexpr int kBlock = 256;
constexpr int kEach = 1;
constexpr int kTile = kEach * kBlock;

struct Best {
  float v;
  int64_t i;  // -1: there is none yet.
};

// A NaN before any number, the larger, the lower index.
__device__ Best better(Best a, Best b) {
  const bool equal = a.v == b.v || (isnan(a.v) && isnan(b.v));
  const bool larger = a.v > b.v || (isnan(a.v) && !isnan(b.v));
  const bool first = b.i < 0 || (a.i >= 0 && (larger || (equal && a.i < b.i)));
  return {first ? a.v : b.v, first ? a.i : b.i};
}

__device__ Best at(const float* x, int64_t i) {
  return {i < 0 ? 0.f : x[i], i};
}

// Its candidates are all of x or, on the second level, those of the first.
__global__ void argmax_kernel(const float* __restrict__ x,
                              const int64_t* candidates, int64_t* tiles,
                              int64_t* winners, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;
  int64_t* tile = tiles + int64_t{blockIdx.x} * kBlock;

  Best best = {0.f, -1};
  for (int k = 0; k < kEach; ++k) {
    const int64_t i = first + k * kBlock;
    if (i < n) best = better(best, at(x, candidates ? candidates[i] : i));
  }
  tile[threadIdx.x] = best.i;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * stride) != 0) continue;
    best = better(best, at(x, tile[threadIdx.x + stride]));
    tile[threadIdx.x] = best.i;
  }
  if (threadIdx.x == 0) winners[blockIdx.x] = best.i;
}

// One block at least: there is an answer for no numbers, too.
int64_t blocks_for(int64_t n) {
  return std::max<int64_t>(1, (n + kTile - 1) / kTile);
}

void find(const float* x, const int64_t* candidates, int64_t* out, int64_t n,
          int64_t* scratch, cudaStream_t stream) {
  const int64_t grid = blocks_for(n);
  int64_t* winners = scratch + grid * kBlock;
  argmax_kernel<<<grid, kBlock, 0, stream>>>(x, candidates, scratch,
                                             grid == 1 ? out : winners, n);
  CUDA_CHECK(cudaGetLastError());
  if (grid > 1) find(x, winners, out, grid, winners + grid, stream);
}

}  // namespace

int64_t argmax_scratch_words(int64_t n) {
  const int64_t grid = blocks_for(n);
  return grid * kBlock + (grid == 1 ? 0 : grid + argmax_scratch_words(grid));
}

void argmax(const float* x, int64_t* out, int64_t n, int64_t* scratch,
            cudaStream_t stream) {
  find(x, nullptr, out, n, scratch, stream);
}
