// Right programs in which products go on while their warps do something else:
// nothing may be said of them. Results are copied from register to register
// before they are there, A's registers are filled for the next product, and
// other tiles are written.

#include <cuda_fp16.h>

#include <random>

#include "tests/simt/expect.h"
#include "tests/simt/hopper/warpgroup.h"
#include "tests/simt/mbarrier.h"

namespace {

using namespace warpgroup;

constexpr int kRows = 64, kColumns = 8, kDepth = 16, kThreads = 128;
constexpr int kTiles = 6;
constexpr int kOfA = kRows * kDepth, kOfB = kColumns * kDepth;

struct Sums {
  float of[4];
};

__device__ void multiply(Sums& d, uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(d.of[0]), "+f"(d.of[1]), "+f"(d.of[2]), "+f"(d.of[3])
      : "l"(a), "l"(b), "r"(adds));
}
__device__ void multiply(Sums& d, const uint4& a, uint64_t b, int adds) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %9, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, 0;\n"
      "}"
      : "+f"(d.of[0]), "+f"(d.of[1]), "+f"(d.of[2]), "+f"(d.of[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b), "r"(adds));
}

__device__ uint64_t tile_at(const half* tile) {
  return at_address(descriptor(kNone, 128, 256), shared_address(tile));
}

// A tile of eight rows or more, as core matrices.
__device__ void fill(half* tile, const half* from, int rows) {
  for (int i = threadIdx.x; i < rows * kDepth; i += kThreads) {
    const int row = i / kDepth, k = i % kDepth;
    tile[row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8] = from[i];
  }
}

__device__ void store(float* d, const Sums& sums) {
  for (int i = 0; i < 4; ++i)
    d[(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 * 8) * kColumns +
      threadIdx.x % 4 * 2 + i % 2] = sums.of[i];
}

// A tile's result is stored while the next one is computed; two tiles are read
// in turn, and written again once they have been.
__global__ void one_behind(const half* a, const half* b, float* d) {
  __shared__ alignas(128) half tile_a[2][kOfA], tile_b[2][kOfB];
  Sums before, now;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    fill(tile_a[t % 2], a + t * kOfA, kRows);
    fill(tile_b[t % 2], b + t * kOfB, kColumns);
    fence_for_async();
    __syncthreads();
    fence();
    multiply(now, tile_at(tile_a[t % 2]), tile_at(tile_b[t % 2]), 0);
    commit();
    wait_but<1>();
    if (t > 0) store(d + (t - 1) * kRows * kColumns, before);
    before = now;
    __syncthreads();
  }
  wait_but<0>();
  store(d + (kTiles - 1) * kRows * kColumns, before);
}

__device__ uint4 rows_of(const half* a) {
  const auto pair = [&](int r) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + r % 2 * 8;
    return *reinterpret_cast<const uint32_t*>(a + row * kDepth + r / 2 * 8 +
                                              threadIdx.x % 4 * 2);
  };
  return {pair(0), pair(1), pair(2), pair(3)};
}

// The next tile of A is loaded to other registers before the product is there.
__global__ void from_registers(const half* a, const half* b, float* d) {
  __shared__ alignas(128) half tile_b[kTiles][kOfB];
  for (int t = 0; t < kTiles; ++t) fill(tile_b[t], b + t * kOfB, kColumns);
  fence_for_async();
  __syncthreads();
  Sums sums;
  uint4 now = rows_of(a);
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    fence();
    multiply(sums, now, tile_at(tile_b[t]), t > 0);
    commit();
    uint4 next = {};
    if (t + 1 < kTiles) next = rows_of(a + (t + 1) * kOfA);
    wait_but<0>();
    now = next;
  }
  store(d, sums);
}

std::vector<half> random_halves(int count) {
  static std::mt19937 bits(3);
  std::vector<half> all(count);
  for (half& one : all) one = __float2half(int(bits() % 9) - 4);
  return all;
}

void check() {
  const auto a = random_halves(kTiles * kOfA), b = random_halves(kTiles * kOfB);
  const expect::Copy<half> a_there(a), b_there(b);
  const auto product = [&](int tile, int i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k)
      sum += __half2float(a[tile * kOfA + i / kColumns * kDepth + k]) *
             __half2float(b[tile * kOfB + i % kColumns * kDepth + k]);
    return sum;
  };
  constexpr int kOfD = kRows * kColumns;
  expect::each(
      expect::results<float>(
          kTiles * kOfD,
          [&](float* d) { one_behind<<<1, kThreads>>>(a_there, b_there, d); }),
      [&](int i) { return product(i / kOfD, i % kOfD); });
  expect::each(expect::results<float>(kOfD,
                                      [&](float* d) {
                                        from_registers<<<1, kThreads>>>(
                                            a_there, b_there, d);
                                      }),
               [&](int i) {
                 float sum = 0;
                 for (int t = 0; t < kTiles; ++t) sum += product(t, i);
                 return sum;
               });
}

}  // namespace

int main() {
  check();
  return expect::report();
}
