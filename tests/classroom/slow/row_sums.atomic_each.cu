// Slow on purpose: each number is added to its row's sum in memory.
// Misses: reduction requests.

#include <bit>

#include "common/check.h"
#include "common/classroom/tasks/row_sums/row_sums.h"

namespace {

constexpr int kBlock = 256;
constexpr int kTile = 4 * kBlock;  // Numbers in a segment.
static_assert(std::has_single_bit(unsigned{kBlock}));

__global__ void row_sums_kernel(const float* __restrict__ x,
                                float* __restrict__ y, int64_t columns,
                                int64_t segments) {
  const int64_t row = blockIdx.x / segments;
  const int64_t first = blockIdx.x % segments * kTile + threadIdx.x;

  for (int k = 0; k < kTile; k += kBlock) {
    const int64_t i = first + k;
    if (i < columns) atomicAdd(&y[row], x[row * columns + i]);
  }
}

}  // namespace

void row_sums(const float* x, float* y, int64_t rows, int64_t columns,
              cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(y, 0, rows * sizeof(float), stream));
  const int64_t segments = (columns + kTile - 1) / kTile;
  const int64_t grid = rows * segments;
  if (grid == 0) return;  // A grid of no blocks is a launch error.

  row_sums_kernel<<<grid, kBlock, 0, stream>>>(x, y, columns, segments);
  CUDA_CHECK(cudaGetLastError());
}
