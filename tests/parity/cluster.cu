// Each other's shared memory: loads, stores and atomics within a cluster, in
// the block's own part and in another's.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kBlock = 64;

__device__ uint32_t mapped(const void* p, uint32_t rank) {
  uint32_t at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(p))), "r"(rank));
  return at;
}

// How another block's shared memory is named: by .shared::cluster, by a generic
// address; or the block's own, by that.
enum Way { kCluster, kGeneric, kOwn };

__device__ unsigned whose(Way way) {
  return cg::this_cluster().block_rank() ^ (way != kOwn);
}

template <Way way>
__global__ void __cluster_dims__(2, 1, 1) loads(float* y, int step) {
  __shared__ float s[kBlock * 8];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  for (int k = i; k < kBlock * 8; k += kBlock) s[k] = k;
  cluster.sync();
  float value;
  if (way == kCluster)
    asm volatile("ld.shared::cluster.f32 %0, [%1];"
                 : "=f"(value)
                 : "r"(mapped(s + i * step, whose(way))));
  else
    value = cluster.map_shared_rank(s, whose(way))[i * step];
  cluster.sync();
  y[blockIdx.x * kBlock + i] = value;
}

template <Way way>
__global__ void __cluster_dims__(2, 1, 1) packs(float4* y) {
  __shared__ float4 s[kBlock];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  s[i] = float4{1, 2, 3, 4};
  cluster.sync();
  const float4 value = cluster.map_shared_rank(s, whose(way))[i];
  cluster.sync();
  y[blockIdx.x * kBlock + i] = value;
}

template <Way way>
__global__ void __cluster_dims__(2, 1, 1) stores(float* y, int step) {
  __shared__ float s[kBlock * 8];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  cluster.sync();
  if (way == kCluster)
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(
                     mapped(s + i * step, whose(way))),
                 "f"(1.f)
                 : "memory");
  else
    cluster.map_shared_rank(s, whose(way))[i * step] = i;
  cluster.sync();
  y[blockIdx.x * kBlock + i] = s[i * step];
}

template <Way way>
__global__ void __cluster_dims__(2, 1, 1) adds(int* y, int places) {
  __shared__ int s[kBlock];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  s[i] = 0;
  cluster.sync();
  int old = 0;
  if (way == kCluster)
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;"
                 : "=r"(old)
                 : "r"(mapped(s + i % places, whose(way)))
                 : "memory");
  else
    old = atomicAdd(cluster.map_shared_rank(s, whose(way)) + i % places, 1);
  cluster.sync();
  y[blockIdx.x * kBlock + i] = s[i] + old;
}

// Lanes of a warp that mean several blocks.
__global__ void __cluster_dims__(4, 1, 1) everywhere(int* y) {
  __shared__ int s[kBlock];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  s[i] = i;
  cluster.sync();
  const int value = *cluster.map_shared_rank(s + i, i % 4);
  atomicAdd(cluster.map_shared_rank(s + i, (i + 1) % 4), 1);
  cluster.sync();
  y[blockIdx.x * kBlock + i] = s[i] + value;
}

// The histogram of the CUDA Programming Guide, without what counts as global.
__global__ void __cluster_dims__(4, 1, 1) histogram(int* y) {
  __shared__ int bins[kBlock];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x;
  bins[i] = 0;
  cluster.sync();
  for (int k = 0; k < 4; ++k) {
    const int bin = (i * 37 + k * 11) % (4 * kBlock);
    atomicAdd(cluster.map_shared_rank(bins, bin / kBlock) + bin % kBlock, 1);
  }
  cluster.sync();
  y[blockIdx.x * kBlock + i] = bins[i];
}

}  // namespace

int main() {
  const DeviceArray<float> out(16 * kBlock);
  float* y = out.data();
  const auto integers = reinterpret_cast<int*>(y);
  const auto vectors = reinterpret_cast<float4*>(y);
  for (const int step : {0, 1, 2, 8}) {
    loads<kCluster><<<2, kBlock>>>(y, step);
    loads<kGeneric><<<2, kBlock>>>(y, step);
    loads<kOwn><<<2, kBlock>>>(y, step);
  }
  packs<kGeneric><<<2, kBlock>>>(vectors);
  packs<kOwn><<<2, kBlock>>>(vectors);
  for (const int step : {1, 2, 8}) {
    stores<kCluster><<<2, kBlock>>>(y, step);
    stores<kGeneric><<<2, kBlock>>>(y, step);
    stores<kOwn><<<2, kBlock>>>(y, step);
  }
  for (const int places : {1, 8, 64}) {
    adds<kCluster><<<2, kBlock>>>(integers, places);
    adds<kGeneric><<<2, kBlock>>>(integers, places);
    adds<kOwn><<<2, kBlock>>>(integers, places);
  }
  everywhere<<<4, kBlock>>>(integers);
  histogram<<<4, kBlock>>>(integers);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
