// Chapter 10, a variant: a thread's numbers come in packs.
//
// New:   a thread loads its 32 numbers as eight packs of 16 bytes, which
//        begin at the first aligned address, wherever x begins.
// Why:   to see, beside sum.cu, what wider loads are worth where as many bytes
//        are in flight without them.
// Price: up to three numbers before the packs and three after them, which the
//        first threads add.

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/pack.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 256;
constexpr int kCoarse = 8;               // Packs that a thread adds up.
constexpr int kTile = kCoarse * kBlock;  // Packs that a block adds up.
static_assert(std::has_single_bit(unsigned{kBlock}));

// The packs begin at x[head].
__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           int64_t head, int64_t packs, int64_t n) {
  __shared__ float tile[kBlock];
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;

  float sum = 0.f;
  for (int k = 0; k < kCoarse; ++k) {
    const int64_t i = first + k * kBlock;
    if (i >= packs) continue;
    const Pack pack = reinterpret_cast<const Pack*>(x + head)[i];
    for (const float v : pack.v) sum += v;
  }
  const int64_t apart = n - packs * kPack;  // Numbers in no pack.
  if (first < apart) sum += x[first < head ? first : first + packs * kPack];

  tile[threadIdx.x] = sum;
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) atomicAdd(out, tile[0]);
}

int64_t blocks_for(int64_t packs) {
  return std::max<int64_t>(1, (packs + kTile - 1) / kTile);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  const int64_t misaligned = reinterpret_cast<uintptr_t>(x) / sizeof(float);
  // How many floats lie before the next aligned address.
  const int64_t head = std::min(n, -misaligned & (kPack - 1));
  const int64_t packs = (n - head) / kPack;
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  sum_kernel<<<blocks_for(packs), kBlock, 0, stream>>>(x, out, head, packs, n);
  CUDA_CHECK(cudaGetLastError());
}

int64_t sum_scratch_floats(int64_t) { return 0; }

// A thread's packs and a number in none, the tree, and then the other blocks.
SumPromise sum_promise(int64_t n) {
  constexpr int kTree = std::bit_width(unsigned{kBlock - 1});
  return {.depth = kCoarse * kPack + kTree + blocks_for(n / kPack) - 1,
          .same_bits = false,
          .denormals = false};
}
