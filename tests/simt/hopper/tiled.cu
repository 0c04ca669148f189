// A product of matrices as Hopper's kernels compute it: one thread asks for
// tiles by tensor maps, warpgroups multiply what has come, while the next tiles
// are under way, and a tensor map brings the result back. The blocks of a
// cluster share their tile of A.

#include <cuda.h>
#include <cuda_fp16.h>

#include <random>

#include "tests/simt/expect.h"
#include "tests/simt/hopper/warpgroup.h"
#include "tests/simt/mbarrier.h"

namespace {

using namespace warpgroup;
using namespace for_copies;

constexpr int kRows = 64, kColumns = 128, kDepth = 64;  // of a warpgroup's tile
constexpr int kStages = 3, kGroup = 128;
constexpr int kM = 4 * kRows, kN = 2 * kColumns, kK = 7 * kDepth;

// So many warpgroups multiply, and so many blocks are in a cluster.
template <int groups>
struct Shared {
  alignas(1024) half a[kStages][groups * kRows * kDepth];
  alignas(1024) half b[kStages][kColumns * kDepth];
  alignas(128) float d[groups][kRows * kColumns];
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

__device__ void load_for_all(const void* to, const CUtensorMap& map, int x,
                             int y, uint64_t* bar, int blocks) {
  const auto mask = static_cast<uint16_t>((1 << blocks) - 1);
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global"
      ".mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(mask)
      : "memory");
}

__device__ uint32_t rank_in_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void meet_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
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
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1, "
      "0x989680;\n"
      "@p bra DONE;\n"
      "bra AGAIN;\n"
      "DONE:\n"
      "}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}

__device__ void arrive_at(uint64_t* bar, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(shared_address(bar)),
      "r"(rank)
      : "memory");
}

// Each block loads a part of A's tile, for all.
template <int groups, int blocks>
__device__ void produce(Shared<groups>& s, const CUtensorMap& a,
                        const CUtensorMap& b) {
  constexpr int kPart = groups * kRows / blocks;
  const int part = rank_in_cluster() * kPart;
  for (int k = 0; k < kK / kDepth; ++k) {
    const int stage = k % kStages, x = k * kDepth;
    wait_long(&s.empty[stage], (k / kStages + 1) % 2);
    arrive_and_expect(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
    load_for_all(&s.a[stage][part * kDepth], a, x,
                 blockIdx.y * groups * kRows + part, &s.full[stage], blocks);
    load(s.b[stage], b, x, blockIdx.x * kColumns, &s.full[stage]);
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
// One thread says so to each block: what its warp has waited for, four warps
// have done.
template <int groups, int blocks>
__device__ void consume(Shared<groups>& s, float (&d)[64], int group) {
  const int thread = threadIdx.x % kGroup;
  for (int k = 0; k < kK / kDepth; ++k) {
    const int stage = k % kStages;
    wait_long(&s.full[stage], k / kStages % 2);
    multiply_tiles(d, &s.a[stage][group * kRows * kDepth], s.b[stage], k > 0);
    wait_but<1>();
    if (k > 0 && thread % 64 == 0 && thread / 64 < blocks)
      arrive_at(&s.empty[(k - 1) % kStages], thread / 64);
  }
  wait_but<0>();
}

__device__ void store(float* to, const float (&d)[64], const CUtensorMap& map,
                      int row, int group) {
  const int thread = threadIdx.x % kGroup;
  for (int i = 0; i < 64; ++i) {
    const int below = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
    to[below * kColumns + i / 4 * 8 + thread % 4 * 2 + i % 2] = d[i];
  }
  fence_for_async();
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
  if (thread != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
      " [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(blockIdx.x * kColumns), "r"(row), "r"(shared_address(to))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

template <int groups, int blocks>
__global__ void __launch_bounds__((1 + groups) * kGroup, 1)
    product(const __grid_constant__ CUtensorMap a,
            const __grid_constant__ CUtensorMap b,
            const __grid_constant__ CUtensorMap d) {
  extern __shared__ __align__(1024) uint8_t room[];
  auto& s = *reinterpret_cast<Shared<groups>*>(room);
  if (threadIdx.x == 0)
    for (int stage = 0; stage < kStages; ++stage) {
      init(&s.full[stage], 1);
      init(&s.empty[stage], groups * blocks);
    }
  meet_cluster();
  if (threadIdx.x < kGroup) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32 && is_elected()) produce<groups, blocks>(s, a, b);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
    const int group = threadIdx.x / kGroup - 1;
    float sums[64];
    consume<groups, blocks>(s, sums, group);
    store(s.d[group], sums, d, (blockIdx.y * groups + group) * kRows, group);
  }
  meet_cluster();
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
template <int groups, int blocks>
void check_product(expect::Where where = expect::Where::current()) {
  const auto a = random_halves(kM * kK), b = random_halves(kN * kK);
  const expect::Copy a_there(a), b_there(b);
  const CUtensorMap map_a = map_of_halves(a_there, kM, groups * kRows / blocks);
  const CUtensorMap map_b = map_of_halves(b_there, kN, kColumns);
  const auto kernel = product<groups, blocks>;
  expect::ok(cudaFuncSetAttribute(kernel,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(Shared<groups>)));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kN / kColumns, kM / (groups * kRows));
  config.blockDim = (1 + groups) * kGroup;
  config.dynamicSmemBytes = sizeof(Shared<groups>);
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto d = expect::results<float>(kM * kN, [&](float* to) {
    const CUtensorMap map_d =
        map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, to, kM, kN, kRows, kColumns,
               CU_TENSOR_MAP_SWIZZLE_NONE);
    expect::ok(cudaLaunchKernelEx(&config, kernel, map_a, map_b, map_d));
  });
  expect::each(
      d,
      [&](int i) {
        float sum = 0;
        for (int k = 0; k < kK; ++k)
          sum += __half2float(a[i / kN * kK + k]) *
                 __half2float(b[i % kN * kK + k]);
        return sum;
      },
      where);
}

}  // namespace

int main() {
  check_product<1, 1>();
  check_product<2, 1>();
  check_product<1, 2>();
  check_product<2, 2>();
  return expect::report();
}
