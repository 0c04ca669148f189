// A tensor map is changed by the kernel, in shared or in global memory, and
// then names another tensor: CUTLASS's grouped products do so for each group.
// Or it is made of zeros there, as Triton makes it.
#include <cuda.h>

#include <cstdint>

#include "tests/simt/expect.h"

namespace {

constexpr int kRows = 8, kColumns = 16, kBox = kRows * kColumns;
constexpr int kOtherColumns = 20, kWider = 12, kHigher = 5;

using Encode = decltype(cuTensorMapEncodeTiled);

CUtensorMap map_of(float* tensor) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  expect::ok(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
  CUtensorMap map;
  const cuuint64_t dim[] = {kColumns, kRows}, stride[] = {kColumns * 4};
  const cuuint32_t box[] = {4, 4}, step[] = {1, 1};
  reinterpret_cast<Encode*>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, tensor, dim, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

#define REPLACE(field, space, type, rest, map, constraint, value)   \
  asm volatile("tensormap.replace.tile." field space ".b1024." type \
               " [%0], " rest "%1;" ::"l"(map),                     \
               constraint(value)                                    \
               : "memory")

// Of a tensor with wider rows, of which fewer rows and columns are named.
#define CHANGE(space, map, other)                                \
  REPLACE("global_address", space, "b64", "", map, "l", other);  \
  REPLACE("global_dim", space, "b32", "0, ", map, "r", kWider);  \
  REPLACE("global_dim", space, "b32", "1, ", map, "r", kHigher); \
  REPLACE("global_stride", space, "b64", "0, ", map, "l",        \
          uint64_t{kOtherColumns * 4});                          \
  REPLACE("box_dim", space, "b32", "0, ", map, "r", kColumns);   \
  REPLACE("box_dim", space, "b32", "1, ", map, "r", kRows)

// What else a map of floats is made of. PTX counts dimensions from zero.
#define MAKE(space, map, other)                                \
  CHANGE(space, map, other);                                   \
  REPLACE("rank", space, "b32", "", map, "r", 1);              \
  REPLACE("element_stride", space, "b32", "0, ", map, "r", 1); \
  REPLACE("element_stride", space, "b32", "1, ", map, "r", 1); \
  REPLACE("elemtype", space, "b32", "", map, "n", 7);          \
  REPLACE("interleave_layout", space, "b32", "", map, "n", 0); \
  REPLACE("swizzle_mode", space, "b32", "", map, "n", 0);      \
  REPLACE("fill_mode", space, "b32", "", map, "n", 0)

__device__ void load_box(const void* map, float* out) {
  alignas(128) __shared__ float box[kBox];
  __shared__ uint64_t barrier;
  const auto bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  asm volatile(
      "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map)
      : "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(kBox * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(
            static_cast<uint32_t>(__cvta_generic_to_shared(box))),
        "l"(map), "r"(bar), "r"(0)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
      " @!p bra again; }" ::"r"(bar)
      : "memory");
  for (int i = threadIdx.x; i < kBox; i += 32) out[i] = box[i];
}

// The warp, from shared memory, when one lane has changed it there.
__device__ void bring_back(CUtensorMap* map, uint64_t at) {
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
      ".gpu.sync.aligned [%0], [%1], 128;" ::"l"(map),
      "l"(at)
      : "memory");
}

// One lane changes the map in shared memory, and the warp brings it back.
__global__ void in_shared(CUtensorMap* map, const float* other, float* out) {
  alignas(128) __shared__ uint32_t copy[32];
  copy[threadIdx.x] = reinterpret_cast<const uint32_t*>(map)[threadIdx.x];
  __syncwarp();
  const uint64_t at = __cvta_generic_to_shared(copy);
  if (threadIdx.x == 0) {
    CHANGE(".shared::cta", at, other);
  }
  bring_back(map, at);
  load_box(map, out);
}

__global__ void of_zeros(CUtensorMap* map, const float* other, float* out) {
  alignas(128) __shared__ uint32_t made[32];
  made[threadIdx.x] = 0;
  __syncwarp();
  const uint64_t at = __cvta_generic_to_shared(made);
  if (threadIdx.x == 0) {
    MAKE(".shared::cta", at, other);
  }
  bring_back(map, at);
  load_box(map, out);
}

__global__ void in_global(CUtensorMap* map, const float* other, float* out) {
  if (threadIdx.x == 0) {
    CHANGE(".global", map, other);
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  }
  __syncwarp();
  load_box(map, out);
}

__global__ void by_generic_address(CUtensorMap* map, const float* other,
                                   float* out) {
  if (threadIdx.x == 0) {
    CHANGE("", map, other);
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  }
  __syncwarp();
  load_box(map, out);
}

__device__ CUtensorMap device_map;

void check(void (*kernel)(CUtensorMap*, const float*, float*)) {
  std::vector<float> first(kBox, -1.0f), second(kRows * kOtherColumns);
  for (size_t i = 0; i < second.size(); ++i) second[i] = float(i + 1);
  const expect::Copy<float> a(first), b(second);
  const CUtensorMap map =
      map_of(const_cast<float*>(static_cast<const float*>(a)));
  expect::ok(cudaMemcpyToSymbol(device_map, &map, sizeof map));
  void* there = nullptr;
  expect::ok(cudaGetSymbolAddress(&there, device_map));
  const auto got = expect::results<float>(kBox, [&](float* out) {
    kernel<<<1, 32>>>(static_cast<CUtensorMap*>(there), b, out);
  });
  expect::each(got, [&](int i) {
    const int row = i / kColumns, column = i % kColumns;
    return row < kHigher && column < kWider
               ? second[row * kOtherColumns + column]
               : 0.0f;
  });
}

}  // namespace

int main() {
  check(in_shared);
  check(of_zeros);
  check(in_global);
  check(by_generic_address);
  return expect::report();
}
