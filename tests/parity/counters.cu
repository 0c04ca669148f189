// A kernel for each counter, as small as it can be. docs/counters.md shows them
// beside what ncu and the executor count for them.
#include <cuda_runtime.h>

#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kWarp = 32;
constexpr int kElements = 1 << 10;

__global__ void coalesced(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void shifted(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x + 1];
}

__global__ void strided(const float* x, float* y) {
  y[threadIdx.x] = x[8 * threadIdx.x];
}

__global__ void packed(const float4* x, float4* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void broadcast(const float* x, float* y) { y[threadIdx.x] = x[0]; }

__global__ void by_rows(float* y) {
  __shared__ float tile[32][32];
  tile[0][threadIdx.x] = threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = tile[0][31 - threadIdx.x];
}

__global__ void by_columns(float* y) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][0] = threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x][0];
}

__global__ void padded(float* y) {
  __shared__ float tile[32][33];
  tile[threadIdx.x][0] = threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = tile[31 - threadIdx.x][0];
}

__global__ void reduction(int* count) { atomicAdd(&count[threadIdx.x % 4], 1); }

__global__ void atomic(int* count, int* y) {
  y[threadIdx.x] = atomicAdd(&count[threadIdx.x % 4], 1);
}

__global__ void half_idle(const float* x, float* y) {
  if (threadIdx.x % 2) y[threadIdx.x] = x[threadIdx.x] / x[1];
}

__global__ void together(const float* x, float* y, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) sum += x[k];
  y[threadIdx.x] = sum;
}

__global__ void leaving(const float* x, float* y) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < threadIdx.x; ++k) sum += x[k];
  y[threadIdx.x] = sum;
}

}  // namespace

int main() {
  const DeviceArray<float> x(std::vector<float>(kElements, 1.f));
  DeviceArray<float> y(kElements);
  DeviceArray<int> count(std::vector<int>(kElements, 0)), before(kElements);
  coalesced<<<1, kWarp>>>(x.data(), y.data());
  shifted<<<1, kWarp>>>(x.data(), y.data());
  strided<<<1, kWarp>>>(x.data(), y.data());
  packed<<<1, kWarp>>>(reinterpret_cast<const float4*>(x.data()),
                       reinterpret_cast<float4*>(y.data()));
  broadcast<<<1, kWarp>>>(x.data(), y.data());
  by_rows<<<1, kWarp>>>(y.data());
  by_columns<<<1, kWarp>>>(y.data());
  padded<<<1, kWarp>>>(y.data());
  reduction<<<1, kWarp>>>(count.data());
  atomic<<<1, kWarp>>>(count.data(), before.data());
  half_idle<<<1, kWarp>>>(x.data(), y.data());
  together<<<1, kWarp>>>(x.data(), y.data(), kWarp);
  leaving<<<1, kWarp>>>(x.data(), y.data());
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
