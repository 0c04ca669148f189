// Bulk copies: what moves without a warp's loads and stores, as bytes and as
// boxes of tensors, and what threads do with it in shared memory.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 64, kRows = 32, kWidth = 64;
constexpr int kBoxRows = 8, kBoxWidth = 32;  // 128 bytes: a row of the swizzle
constexpr int kBoxBytes = kBoxRows * kBoxWidth * 4;

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile(
      "mbarrier.init.shared.b64 [%0], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "fence.proxy.async.shared::cta;\n"
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::
          "r"(shared_address(bar)),
      "r"(bytes)
      : "memory");
}

__device__ void wait(uint64_t* bar) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar))
        : "memory");
}

__device__ void end_group() {
  asm volatile(
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::
          : "memory");
}

__global__ void bytes_in(const float* x, float* y) {
  __shared__ alignas(1024) float box[kBoxRows * kBoxWidth];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    expect(&bar, kBoxBytes);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" ::"r"(shared_address(box)),
        "l"(x + blockIdx.x * kBoxRows * kBoxWidth), "r"(kBoxBytes),
        "r"(shared_address(&bar))
        : "memory");
  }
  __syncthreads();
  wait(&bar);
  y[blockIdx.x * kBlock + threadIdx.x] = box[threadIdx.x];
}

__global__ void bytes_out(float* y) {
  __shared__ alignas(1024) float box[kBoxRows * kBoxWidth];
  for (int i = threadIdx.x; i < kBoxRows * kBoxWidth; i += kBlock) box[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
          y + blockIdx.x * kBoxRows * kBoxWidth),
      "r"(shared_address(box)), "r"(kBoxBytes)
      : "memory");
  end_group();
}

__global__ void box_in(const __grid_constant__ CUtensorMap map, float* y,
                       int x0, int y0) {
  __shared__ alignas(1024) float box[kBoxRows * kBoxWidth];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    expect(&bar, kBoxBytes);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            shared_address(box)),
        "l"(&map), "r"(shared_address(&bar)), "r"(x0), "r"(y0)
        : "memory");
  }
  __syncthreads();
  wait(&bar);
  // A column: its place in the row changes from row to row.
  const int row = threadIdx.x % kBoxRows;
  y[threadIdx.x] = box[row * kBoxWidth + (row * 4 & 31)];
}

__global__ void box_out(const __grid_constant__ CUtensorMap map, int x0,
                        int y0) {
  __shared__ alignas(1024) float box[kBoxRows * kBoxWidth];
  for (int i = threadIdx.x; i < kBoxRows * kBoxWidth; i += kBlock) box[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %3}], "
      "[%0];" ::"r"(shared_address(box)),
      "l"(&map), "r"(x0), "r"(y0)
      : "memory");
  end_group();
}

__global__ void box_added(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) float box[kBoxRows * kBoxWidth];
  for (int i = threadIdx.x; i < kBoxRows * kBoxWidth; i += kBlock) box[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group "
      "[%1, {0, 0}], [%0];" ::"r"(shared_address(box)),
      "l"(&map)
      : "memory");
  end_group();
}

CUtensorMap map_of(float* x, CUtensorMapSwizzle swizzle) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
  CUtensorMap map;
  const cuuint64_t dim[] = {kWidth, kRows}, stride[] = {kWidth * 4};
  const cuuint32_t box[] = {kBoxWidth, kBoxRows}, step[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x, dim, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

}  // namespace

int main() {
  const DeviceArray<float> in(kRows * kWidth), out(kRows * kWidth);
  CUDA_CHECK(cudaMemset(in.data(), 0, in.size() * sizeof(float)));
  CUDA_CHECK(cudaMemset(out.data(), 0, out.size() * sizeof(float)));
  bytes_in<<<4, kBlock>>>(in.data(), out.data());
  bytes_out<<<4, kBlock>>>(out.data());
  for (const auto swizzle :
       {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B}) {
    const CUtensorMap from = map_of(in.data(), swizzle);
    const CUtensorMap to = map_of(out.data(), swizzle);
    box_in<<<1, kBlock>>>(from, out.data(), 0, 0);
    box_in<<<1, kBlock>>>(from, out.data(), 4, -2);
    box_out<<<1, kBlock>>>(to, 0, 0);
    box_out<<<1, kBlock>>>(to, 40, 28);
    box_added<<<2, kBlock>>>(to);
  }
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}
