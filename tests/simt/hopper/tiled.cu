// A product of matrices as Hopper's kernels compute it: one thread asks for
// tiles by tensor maps, four warps multiply what has come, while the next tiles
// are under way, and a tensor map brings the result back.

#include <cuda.h>
#include <cuda_fp16.h>

#include <random>

#include "tests/simt/expect.h"
#include "tests/simt/hopper/warpgroup.h"
#include "tests/simt/mbarrier.h"

namespace {

using namespace warpgroup;
using namespace for_copies;

constexpr int kRows = 64, kColumns = 128, kDepth = 64;  // of a tile
constexpr int kStages = 3, kGroup = 128;
constexpr int kM = 2 * kRows, kN = 2 * kColumns, kK = 7 * kDepth;
constexpr int kTileBytes = (kRows + kColumns) * kDepth * sizeof(half);

struct Shared {
  alignas(1024) half a[kStages][kRows * kDepth];
  alignas(1024) half b[kStages][kColumns * kDepth];
  alignas(128) float d[kRows * kColumns];
  uint64_t full[kStages], empty[kStages];
};

#define NAMED(n) ",%" #n
#define OPERAND(n) , "+f"(d[n])

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0" REST_OF_64(NAMED) "}, %64, %65, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(d[0]) REST_OF_64(OPERAND)
      : "l"(a), "l"(b), "r"(adds));
}

__device__ void load(const void* to, const CUtensorMap& map, int x, int y,
                     uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(bar))
      : "memory");
}

__device__ bool is_elected() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected;
}

// With a hint for how long it may sleep.
__device__ void wait_long(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 0x989680;\n"
      "@p bra DONE;\n"
      "bra AGAIN;\n"
      "DONE:\n"
      "}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}

__device__ void arrive(uint64_t* bar) {
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar))
      : "memory");
}

__device__ void produce(Shared& s, const CUtensorMap& a, const CUtensorMap& b) {
  for (int k = 0; k < kK / kDepth; ++k) {
    const int stage = k % kStages;
    wait_long(&s.empty[stage], (k / kStages + 1) % 2);
    arrive_and_expect(&s.full[stage], kTileBytes);
    load(s.a[stage], a, k * kDepth, blockIdx.y * kRows, &s.full[stage]);
    load(s.b[stage], b, k * kDepth, blockIdx.x * kColumns, &s.full[stage]);
  }
}

// The product of one pair of tiles: sixteen columns of A at a time.
__device__ void multiply_tiles(float (&d)[64], const half* a, const half* b,
                               bool adds) {
  const uint64_t rows = descriptor(k128, 16, 1024);
  const uint64_t at_a = at_address(rows, shared_address(a));
  const uint64_t at_b = at_address(rows, shared_address(b));
  fence();
  for (int k = 0; k < kDepth / 16; ++k)
    multiply(d, at_a + 2 * k, at_b + 2 * k, adds || k > 0);
  commit();
}

// While one pair of tiles is multiplied, the pair before may be overwritten.
__device__ void consume(Shared& s, float (&d)[64]) {
  for (int k = 0; k < kK / kDepth; ++k) {
    const int stage = k % kStages;
    wait_long(&s.full[stage], k / kStages % 2);
    multiply_tiles(d, s.a[stage], s.b[stage], k > 0);
    wait_but<1>();
    if (k > 0) arrive(&s.empty[(k - 1) % kStages]);
  }
  wait_but<0>();
}

__device__ void store(Shared& s, const float (&d)[64], const CUtensorMap& map) {
  const int thread = threadIdx.x % kGroup;
  for (int i = 0; i < 64; ++i) {
    const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
    s.d[row * kColumns + i / 4 * 8 + thread % 4 * 2 + i % 2] = d[i];
  }
  fence_for_async();
  asm volatile("bar.sync 1, 128;" ::: "memory");
  if (thread != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
      " [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(blockIdx.x * kColumns), "r"(blockIdx.y * kRows),
      "r"(shared_address(s.d))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__global__ void __launch_bounds__(2 * kGroup, 1)
    product(const __grid_constant__ CUtensorMap a,
            const __grid_constant__ CUtensorMap b,
            const __grid_constant__ CUtensorMap d) {
  extern __shared__ __align__(1024) uint8_t room[];
  Shared& s = *reinterpret_cast<Shared*>(room);
  if (threadIdx.x == 0)
    for (int stage = 0; stage < kStages; ++stage) {
      init(&s.full[stage], 1);
      init(&s.empty[stage], kGroup);
    }
  __syncthreads();
  if (threadIdx.x < kGroup) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32 && is_elected()) produce(s, a, b);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float sums[64];
    consume(s, sums);
    store(s, sums, d);
  }
}

CUtensorMap map_of(CUtensorMapDataType type, uint32_t bytes, void* x, int rows,
                   int columns, uint32_t box_rows, uint32_t box_columns,
                   CUtensorMapSwizzle swizzle) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  expect::ok(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
  CUtensorMap map;
  const cuuint64_t size[] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t stride[] = {size[0] * bytes};
  const cuuint32_t box[] = {box_columns, box_rows}, step[] = {1, 1};
  expect::equal(
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
          &map, type, 2, x, size, stride, box, step,
          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      CUDA_SUCCESS);
  return map;
}
CUtensorMap map_of_halves(const half* x, int rows, int box_rows) {
  return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<half*>(x), rows,
                kK, box_rows, kDepth, CU_TENSOR_MAP_SWIZZLE_128B);
}

std::vector<half> random_halves(int count) {
  static std::mt19937 bits(7);
  std::vector<half> all(count);
  for (half& one : all) one = __float2half(int(bits() % 17) - 8);
  return all;
}

// B lies column by column. All sums are small whole numbers.
void check_product() {
  const auto a = random_halves(kM * kK), b = random_halves(kN * kK);
  const expect::Copy a_there(a), b_there(b);
  const CUtensorMap map_a = map_of_halves(a_there, kM, kRows);
  const CUtensorMap map_b = map_of_halves(b_there, kN, kColumns);
  expect::ok(cudaFuncSetAttribute(
      product, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  const auto d = expect::results<float>(kM * kN, [&](float* to) {
    const CUtensorMap map_d =
        map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, to, kM, kN, kRows, kColumns,
               CU_TENSOR_MAP_SWIZZLE_NONE);
    product<<<dim3(kN / kColumns, kM / kRows), 2 * kGroup, sizeof(Shared)>>>(
        map_a, map_b, map_d);
  });
  expect::each(d, [&](int i) {
    float sum = 0;
    for (int k = 0; k < kK; ++k)
      sum +=
          __half2float(a[i / kN * kK + k]) * __half2float(b[i % kN * kK + k]);
    return sum;
  });
}

}  // namespace

int main() {
  check_product();
  return expect::report();
}
