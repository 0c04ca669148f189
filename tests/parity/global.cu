// Global memory: every width, and every way a warp can spread over it.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <random>
#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 128;
constexpr int kElements = 1 << 14;

struct Mixed {  // 24 bytes
  char tag;
  float weight;
  double value;
  short code;
};

struct alignas(16) Chars {
  char c[16];
};

struct Triple {  // 12 bytes, aligned to 4
  int x, y, z;
};

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T>
__global__ void copy(const T* x, T* y, int n) {
  const int i = thread();
  if (i < n) y[i] = x[i];
}

template <class T>
__global__ void copy_restrict(const T* __restrict__ x, T* __restrict__ y,
                              int n) {
  const int i = thread();
  if (i < n) y[i] = x[i];
}

template <class T>
__global__ void copy_grid_stride(const T* x, T* y, int64_t n) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = thread(); i < n; i += step) y[i] = x[i];
}

__global__ void strided(const float* x, float* y, int stride) {
  y[thread()] = x[thread() * stride];
}

__global__ void strided_store(const float* x, float* y, int stride) {
  y[thread() * stride] = x[thread()];
}

__global__ void shifted(const float* x, float* y, int by) {
  y[thread() + by] = x[thread() + by];
}

__global__ void reversed(const double* x, double* y, int n) {
  y[n - 1 - thread()] = x[thread()];
}

__global__ void broadcast(const float* x, float* y) {
  y[thread()] = x[blockIdx.x];
}

template <class T>
__global__ void gather(const int* where, const T* x, T* y) {
  y[thread()] = x[where[thread()]];
}

template <class T>
__global__ void scatter(const int* where, const T* x, T* y) {
  y[where[thread()]] = x[thread()];
}

__global__ void one_field(const Mixed* x, float* y) {
  y[thread()] = x[thread()].weight;
}

__global__ void every_field(const Mixed* x, Mixed* y) {
  y[thread()] = x[thread()];
}

__global__ void add_halves(const __half2* x, __half2* y) {
  y[thread()] = __hadd2(x[thread()], x[thread()]);
}

__global__ void add_chars(const Chars* x, Chars* y) {
  Chars v = x[thread()];
  for (int k = 0; k < 16; ++k) v.c[k] += k;
  y[thread()] = v;
}

__global__ void image(const float* x, float* y, int width, int height) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height)
    y[row * width + column] = 2 * x[row * width + column];
}

__global__ void volume(const short* x, short* y, int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= side || j >= side || k >= side) return;
  const int at = (k * side + j) * side + i;
  y[at] = x[at];
}

__device__ float table[kElements];

__global__ void device_variable(float* y) { y[thread()] = table[2 * thread()]; }

__global__ void cached(const float* x, float* y) {
  const int i = thread();
  y[i] = __ldg(x + i) + __ldcs(x + i + 1) + __ldcg(x + i + 2);
  __stcs(y + i + 8, 1.f);
}

__global__ void rows(const float* x, float* y, int width) {
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += x[thread() * width + k];
  y[thread()] = sum;
}

template <class T>
void copies(const void* x, void* y) {
  const auto from = static_cast<const T*>(x);
  const auto to = static_cast<T*>(y);
  copy<<<4, kBlock>>>(from, to, 4 * kBlock);
  copy<<<4, kBlock>>>(from, to, 3 * kBlock + 45);
  copy<<<3, 33>>>(from, to, 99);
  copy_restrict<<<2, kBlock>>>(from + 1, to + 3, 2 * kBlock - 1);
  copy_grid_stride<<<3, 96>>>(from, to, 1000);
}

void of_every_width(const void* x, void* y) {
  copies<uint8_t>(x, y);
  copies<uint16_t>(x, y);
  copies<float>(x, y);
  copies<double>(x, y);
  copies<float3>(x, y);
  copies<Triple>(x, y);
  copies<double2>(x, y);
  copies<float4>(x, y);
  copies<Chars>(x, y);
  copies<__half2>(x, y);
}

void of_every_pattern(const float* x, float* y) {
  for (int stride : {0, 1, 2, 3, 4, 7, 8, 9, 31, 32})
    strided<<<2, kBlock>>>(x, y, stride);
  for (int stride : {2, 3, 8, 17}) strided_store<<<2, kBlock>>>(x, y, stride);
  for (int by : {1, 3, 4, 7, 8, 16, 31}) shifted<<<2, kBlock>>>(x, y, by);
  broadcast<<<2, kBlock>>>(x, y);
  rows<<<2, kBlock>>>(x, y, 5);
  rows<<<2, kBlock>>>(x, y, 32);
  cached<<<2, kBlock>>>(x, y);
  device_variable<<<2, kBlock>>>(y);
}

void at_random(const void* x, void* y) {
  std::mt19937 random(7);  // The same numbers everywhere.
  std::vector<int> where(4 * kBlock);
  for (int most : {32, 1000, kElements}) {
    for (int& w : where) w = static_cast<int>(random() % most);
    const DeviceArray<int> places(where);
    const int* at = places.data();
    gather<<<4, kBlock>>>(at, static_cast<const float*>(x),
                          static_cast<float*>(y));
    gather<<<4, kBlock>>>(at, static_cast<const char*>(x),
                          static_cast<char*>(y));
    gather<<<4, kBlock>>>(at, static_cast<const float4*>(x),
                          static_cast<float4*>(y));
    scatter<<<4, kBlock>>>(at, static_cast<const short*>(x),
                           static_cast<short*>(y));
    scatter<<<4, kBlock>>>(at, static_cast<const double*>(x),
                           static_cast<double*>(y));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

void of_other_shapes(const void* x, void* y) {
  const auto floats = static_cast<const float*>(x);
  image<<<dim3(4, 3), dim3(16, 16)>>>(floats, static_cast<float*>(y), 61, 45);
  image<<<dim3(2, 5), dim3(32, 8)>>>(floats, static_cast<float*>(y), 61, 37);
  image<<<dim3(8, 6), dim3(8, 8)>>>(floats, static_cast<float*>(y), 61, 45);
  image<<<dim3(7, 5), dim3(9, 10)>>>(floats, static_cast<float*>(y), 61, 45);
  volume<<<dim3(3, 3, 3), dim3(8, 4, 4)>>>(static_cast<const short*>(x),
                                           static_cast<short*>(y), 12);
  volume<<<dim3(3, 3, 3), dim3(5, 5, 5)>>>(static_cast<const short*>(x),
                                           static_cast<short*>(y), 13);
}

void of_structs(const void* x, void* y) {
  reversed<<<2, kBlock>>>(static_cast<const double*>(x),
                          static_cast<double*>(y), 2 * kBlock);
  one_field<<<2, kBlock>>>(static_cast<const Mixed*>(x),
                           static_cast<float*>(y));
  every_field<<<2, kBlock>>>(static_cast<const Mixed*>(x),
                             static_cast<Mixed*>(y));
  add_halves<<<2, kBlock>>>(static_cast<const __half2*>(x),
                            static_cast<__half2*>(y));
  add_chars<<<2, kBlock>>>(static_cast<const Chars*>(x),
                           static_cast<Chars*>(y));
}

}  // namespace

int main() {
  const DeviceArray<float4> x(kElements), y(kElements);
  CUDA_CHECK(cudaMemset(x.data(), 0, kElements * sizeof(float4)));
  of_every_width(x.data(), y.data());
  of_every_pattern(&x.data()->x, &y.data()->x);
  at_random(x.data(), y.data());
  of_other_shapes(x.data(), y.data());
  of_structs(x.data(), y.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
