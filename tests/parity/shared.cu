// Shared memory: every width, banks in and out of step, through pointers,
// structs and functions that are not inlined; and local arrays.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 64;
constexpr int kElements = 1024;

struct Point {  // 12 bytes
  float x, y, z;
};

struct Cell {  // 8 bytes
  short kind;
  char flag;
  float value;
};

__device__ float as_float(float v) { return v; }
__device__ float as_float(double v) { return static_cast<float>(v); }
__device__ float as_float(uint8_t v) { return v; }
__device__ float as_float(uint16_t v) { return v; }
__device__ float as_float(float2 v) { return v.x + v.y; }
__device__ float as_float(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ float as_float(double2 v) { return static_cast<float>(v.x + v.y); }
__device__ float as_float(Point v) { return v.x + v.y + v.z; }
__device__ float as_float(Cell v) { return v.kind + v.flag + v.value; }

// Writes one way, reads another.
template <class T>
__global__ void strides(const T* x, float* y, int write, int read) {
  __shared__ T s[kElements];
  const int i = threadIdx.x;
  s[i * write % kElements] = x[i];
  __syncthreads();
  y[i] = as_float(s[i * read % kElements]);
}

template <int kPadding>
__global__ void columns(const float* x, float* y) {
  __shared__ float s[32][32 + kPadding];
  const int i = threadIdx.x, j = threadIdx.y;
  s[j][i] = x[j * 32 + i];
  __syncthreads();
  y[j * 32 + i] = s[i][j];
}

__global__ void lookup(const int* where, float* y) {
  __shared__ float s[kElements];
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) s[i] = i;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = s[where[i]];
}

__global__ void dynamic(const float* x, float* y, int n) {
  extern __shared__ float s[];
  float* const second = s + n;
  const int i = threadIdx.x;
  s[i] = x[i];
  second[n - 1 - i] = x[i + n];
  __syncthreads();
  y[i] = s[n - 1 - i] + second[i];
}

// The compiler cannot know that these are shared: generic instructions.
__device__ __noinline__ void put(float* p, int i, float v) { p[i] = v; }
__device__ __noinline__ float get(const float* p, int i) { return p[i]; }

__global__ void through_calls(float* y) {
  __shared__ float s[kBlock * 2];
  put(s, threadIdx.x * 2, 1.f);
  __syncthreads();
  y[threadIdx.x] = get(s, threadIdx.x * 2);
}

__global__ void either(float* y, bool global) {
  __shared__ float s[kBlock];
  s[threadIdx.x] = 3;
  __syncthreads();
  const float* p = global ? y : s;
  y[threadIdx.x + kBlock] = p[kBlock - 1 - threadIdx.x];
}

__global__ void bytes(const uint8_t* x, uint8_t* y) {
  __shared__ uint8_t s[4][kBlock];
  const int i = threadIdx.x;
  for (int k = 0; k < 4; ++k) s[k][i] = x[k * kBlock + i];
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[k * kBlock + i] = s[i % 4][i / 4 + 16 * k];
}

__global__ void ragged(const float* x, float* y, int n) {
  __shared__ float s[kBlock];
  const int i = threadIdx.x;
  if (i < n) s[i] = x[i];
  __syncthreads();
  if (i < n - 1 && i % 3 != 0) y[i] = s[i] + s[i + 1];
}

__global__ void dynamic_local(const int* where, float* y) {
  float mine[16];
  for (int k = 0; k < 16; ++k) mine[k] = k * threadIdx.x;
  for (int k = 0; k < 8; ++k) mine[where[k + threadIdx.x] & 15] += k;
  y[threadIdx.x] = mine[where[threadIdx.x] & 15];
}

template <class T>
void of_type(const void* x, float* y) {
  const auto from = static_cast<const T*>(x);
  for (int read : {0, 1, 2, 3, 4, 8, 32, 33})
    strides<<<1, kBlock>>>(from, y, 1, read);
  for (int write : {2, 4, 5, 16}) strides<<<1, kBlock>>>(from, y, write, write);
  strides<<<1, 50>>>(from, y, 1, 2);
}

}  // namespace

int main() {
  const DeviceArray<float4> x(kElements);
  const DeviceArray<float> out(kElements);
  CUDA_CHECK(cudaMemset(x.data(), 0, kElements * sizeof(float4)));
  const void* from = x.data();
  float* y = out.data();
  of_type<uint8_t>(from, y);
  of_type<uint16_t>(from, y);
  of_type<float>(from, y);
  of_type<double>(from, y);
  of_type<float2>(from, y);
  of_type<float4>(from, y);
  of_type<double2>(from, y);
  of_type<Point>(from, y);
  of_type<Cell>(from, y);
  const auto floats = static_cast<const float*>(from);
  columns<0><<<1, dim3(32, 32)>>>(floats, y);
  columns<1><<<1, dim3(32, 32)>>>(floats, y);
  columns<4><<<1, dim3(32, 32)>>>(floats, y);

  std::vector<int> where(kElements);
  uint32_t state = 1;
  for (int& w : where) w = (state = state * 1664525 + 1013904223) >> 22;
  const DeviceArray<int> places(where);
  lookup<<<4, kBlock>>>(places.data(), y);
  dynamic<<<1, kBlock, 2 * kBlock * sizeof(float)>>>(floats, y, kBlock);
  through_calls<<<1, kBlock>>>(y);
  either<<<1, kBlock>>>(y, false);
  either<<<1, kBlock>>>(y, true);
  bytes<<<1, kBlock>>>(static_cast<const uint8_t*>(from),
                       reinterpret_cast<uint8_t*>(y));
  ragged<<<1, kBlock>>>(floats, y, 41);
  dynamic_local<<<1, kBlock>>>(places.data(), y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
