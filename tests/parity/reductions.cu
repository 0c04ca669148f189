// Sums, from the naive to the coarsened, and what warps tell one another.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 256;
constexpr unsigned kAll = 0xffffffffu;

// Halves of a tile move together; in place, neighbours first.
__global__ void neighbours(float* x, float* sums) {
  float* tile = x + blockIdx.x * 2 * blockDim.x;
  const int i = 2 * threadIdx.x;
  for (unsigned distance = 1; distance <= blockDim.x; distance *= 2) {
    if (threadIdx.x % distance == 0) tile[i] += tile[i + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

__global__ void convergent(float* x, float* sums) {
  float* tile = x + blockIdx.x * 2 * blockDim.x;
  const int i = threadIdx.x;
  for (unsigned distance = blockDim.x; distance >= 1; distance /= 2) {
    if (threadIdx.x < distance) tile[i] += tile[i + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

__global__ void in_shared(const float* x, float* sums) {
  __shared__ float part[kBlock];
  const int i = threadIdx.x;
  const float* tile = x + blockIdx.x * 2 * kBlock;
  part[i] = tile[i] + tile[i + kBlock];
  for (unsigned distance = kBlock / 2; distance >= 1; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) part[i] += part[i + distance];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void in_shared_any_block(const float* x, float* sums) {
  extern __shared__ float part[];
  const unsigned i = threadIdx.x;
  part[i] = x[blockIdx.x * blockDim.x + i];
  for (unsigned distance = blockDim.x / 2; distance > 0; distance >>= 1) {
    __syncthreads();
    if (i < distance) part[i] += part[i + distance];
  }
  if (i == 0) sums[blockIdx.x] = part[0];
}

// Threads whose places are a multiple work: they are strewn over the banks.
__global__ void strewn(const float* x, float* sums) {
  __shared__ float part[kBlock];
  part[threadIdx.x] = x[blockIdx.x * kBlock + threadIdx.x];
  for (unsigned distance = 1; distance < kBlock; distance *= 2) {
    __syncthreads();
    const unsigned i = 2 * distance * threadIdx.x;
    if (i < kBlock) part[i] += part[i + distance];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void segmented(const float* x, float* sum, int n) {
  __shared__ float part[kBlock];
  const int i = 2 * kBlock * blockIdx.x + threadIdx.x;
  part[threadIdx.x] = (i < n ? x[i] : 0) + (i + kBlock < n ? x[i + kBlock] : 0);
  for (unsigned distance = kBlock / 2; distance >= 1; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance)
      part[threadIdx.x] += part[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

template <int kCoarse>
__global__ void coarsened(const float* x, float* sum, int n) {
  __shared__ float part[kBlock];
  const int first = 2 * kCoarse * kBlock * blockIdx.x + threadIdx.x;
  float mine = 0;
  for (int k = 0; k < 2 * kCoarse; ++k) {
    const int i = first + k * kBlock;
    if (i < n) mine += x[i];
  }
  part[threadIdx.x] = mine;
  for (unsigned distance = kBlock / 2; distance >= 1; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance)
      part[threadIdx.x] += part[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

__device__ float warp_sum(float v) {
  for (int distance = 16; distance > 0; distance /= 2)
    v += __shfl_down_sync(kAll, v, distance);
  return v;
}

__global__ void by_shuffles(const float* x, float* sum, int n) {
  __shared__ float part[kBlock / 32];
  float v = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n;
       i += gridDim.x * kBlock)
    v += x[i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < kBlock / 32 ? part[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) atomicAdd(sum, v);
  }
}

__global__ void by_groups(const int* x, int* sum) {
  const auto block = cooperative_groups::this_thread_block();
  const auto warp = cooperative_groups::tiled_partition<32>(block);
  const int v = x[blockIdx.x * kBlock + threadIdx.x];
  const int total =
      cooperative_groups::reduce(warp, v, cooperative_groups::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(sum, total);
}

__global__ void packs(const float4* x, float* sum, int n) {
  float v = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n;
       i += gridDim.x * kBlock) {
    const float4 p = x[i];
    v += p.x + p.y + p.z + p.w;
  }
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}

__global__ void ballot_mask(const float* x, unsigned* mask, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned word = __ballot_sync(kAll, i < n && x[i] > 0);
  if (threadIdx.x % 32 == 0 && i < n) mask[i / 32] = word;
}

__global__ void compact(const int* x, int* y, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && x[i] % 3 == 1;
  const unsigned kept = __ballot_sync(kAll, keep);
  const int lane = threadIdx.x % 32;
  int base = 0;
  if (lane == 0 && kept) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(kAll, base, 0);
  if (keep) y[base + __popc(kept & ((1u << lane) - 1))] = x[i];
}

__device__ unsigned finished = 0;

__global__ void last_block(const float* x, float* parts, float* sum, int n) {
  __shared__ float part[kBlock / 32];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n;
       i += gridDim.x * kBlock)
    v += x[i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int k = 0; k < kBlock / 32; ++k) total += part[k];
    parts[blockIdx.x] = total;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += parts[b];
    *sum = total;
  }
}

}  // namespace

int main() {
  constexpr int kElements = 16 * kBlock;
  const DeviceArray<float> x(kElements), sums(kElements);
  CUDA_CHECK(cudaMemset(x.data(), 0, kElements * sizeof(float)));
  CUDA_CHECK(cudaMemset(sums.data(), 0, kElements * sizeof(float)));
  float* s = sums.data();
  const auto ints = reinterpret_cast<int*>(x.data());
  const auto counts = reinterpret_cast<int*>(s);

  neighbours<<<4, kBlock>>>(x.data(), s);
  convergent<<<4, kBlock>>>(x.data(), s);
  in_shared<<<4, kBlock>>>(x.data(), s);
  for (int block : {32, 128, 1024})
    in_shared_any_block<<<2, block, block * sizeof(float)>>>(x.data(), s);
  strewn<<<4, kBlock>>>(x.data(), s);
  segmented<<<4, kBlock>>>(x.data(), s, 8 * kBlock);
  segmented<<<4, kBlock>>>(x.data(), s, 7 * kBlock + 13);
  coarsened<2><<<4, kBlock>>>(x.data(), s, 16 * kBlock);
  coarsened<4><<<2, kBlock>>>(x.data(), s, 15 * kBlock + 77);
  by_shuffles<<<4, kBlock>>>(x.data(), s, kElements - 5);
  by_groups<<<4, kBlock>>>(ints, counts);
  packs<<<2, kBlock>>>(reinterpret_cast<float4*>(x.data()), s,
                       kElements / 4 - 3);
  ballot_mask<<<4, kBlock>>>(x.data(), reinterpret_cast<unsigned*>(s), 1000);
  CUDA_CHECK(cudaMemset(s, 0, sizeof(int)));
  compact<<<4, kBlock>>>(ints, counts + 1, counts, 1000);
  last_block<<<1, kBlock>>>(x.data(), s, s + 8, kElements);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
