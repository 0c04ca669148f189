// Loads of which nobody reads a part, or anything.
#include <cuda_fp16.h>

#include <cstdint>

#include "common/check.h"

namespace {

constexpr int kBlock = 64;

__device__ int thread() { return blockIdx.x * kBlock + threadIdx.x; }

template <int kWords>
__device__ float some(float4 v) {
  const float all[4] = {v.x, v.y, v.z, v.w};
  float sum = 0.f;
  for (int k = 0; k < 4; ++k)
    if (kWords >> k & 1) sum += all[k];
  return sum;
}

// A bit of kWords for each word that is read.
template <int kWords>
__global__ void words(const float4* x, float* out) {
  const float4 v = x[thread()];
  out[thread()] = some<kWords>(v);
}

template <int kWords>
__global__ void shared_words(const float4* x, float* out) {
  __shared__ float4 tile[kBlock];
  tile[threadIdx.x] = x[thread()];
  __syncthreads();
  const float4 v = tile[threadIdx.x ^ 5];
  out[thread()] = some<kWords>(v);
}

// One for all lanes, in a loop of unknown length.
__global__ void broadcast_words(const float4* x, float* out, int n) {
  __shared__ float4 tile[kBlock];
  tile[threadIdx.x] = x[thread()];
  __syncthreads();
  float sum = 0.f;
  for (int k = 0; k < n; ++k) {
    const float4 v = tile[k];
    sum += v.x * v.w;
  }
  out[thread()] = sum;
}

template <int kBytes>
__global__ void bytes(const uchar4* x, int* out) {
  const uchar4 v = x[thread()];
  const int all[4] = {v.x, v.y, v.z, v.w};
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    if (kBytes >> k & 1) sum += all[k];
  out[thread()] = sum;
}

template <int kParts>
__global__ void shorts(const ushort4* x, int* out) {
  const ushort4 v = x[thread()];
  const int all[4] = {v.x, v.y, v.z, v.w};
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    if (kParts >> k & 1) sum += all[k];
  out[thread()] = sum;
}

__global__ void imaginary(const double2* x, double* out) {
  const double2 v = x[thread()];
  out[thread()] = v.y;
}

__global__ void low_half(const __half2* x, __half* out) {
  out[thread()] = __low2half(x[thread()]);
}

__global__ void high_word(const double* x, int* out) {
  out[thread()] = __double2hiint(x[thread()]);
}

__global__ void low_word(const uint64_t* x, uint32_t* out) {
  out[thread()] = static_cast<uint32_t>(x[thread()]);
}

__global__ void low_words(const ulonglong2* x, uint32_t* out) {
  const ulonglong2 v = x[thread()];
  out[thread()] = static_cast<uint32_t>(v.x) + static_cast<uint32_t>(v.y);
}

__global__ void guarded(const float4* x, float* out, int n) {
  float4 v = {};
  if (thread() < n) v = __ldcs(x + thread());
  out[thread()] = v.y - v.w;
}

// The compiler before ptxas keeps what it is told to load.
__global__ void dropped(const float* x, float* out) {
  float ignored;
  asm("ld.global.f32 %0, [%1];" : "=f"(ignored) : "l"(x + thread()));
  asm volatile("ld.global.f32 %0, [%1];"
               : "=f"(ignored)
               : "l"(x + thread() + kBlock));
  out[thread()] = __ldg(x + thread());
}

__global__ void kept(const float* x, float* out) {
  float ignored;
  asm volatile("ld.volatile.global.f32 %0, [%1];"
               : "=f"(ignored)
               : "l"(x + thread()));
  out[thread()] = 1.f;
}

// A pointer that is stored to is wanted in full.
__global__ void far(uint32_t* const* to, uint32_t value) {
  *to[thread()] = value;
}

__global__ void point_to(uint32_t** to, uint32_t* all) {
  to[thread()] = all + thread();
}

template <int kFirst, class T>
void every_choice(const float4* x, T* out) {
  words<kFirst><<<2, kBlock>>>(x, reinterpret_cast<float*>(out));
  shared_words<kFirst><<<2, kBlock>>>(x, reinterpret_cast<float*>(out));
  bytes<kFirst><<<2, kBlock>>>(reinterpret_cast<const uchar4*>(x), out);
  shorts<kFirst><<<2, kBlock>>>(reinterpret_cast<const ushort4*>(x), out);
  if constexpr (kFirst < 15) every_choice<kFirst + 1>(x, out);
}

}  // namespace

int main() {
  constexpr int kMost = 4096;
  void *x = nullptr, *out = nullptr;
  CUDA_CHECK(cudaMalloc(&x, kMost));
  CUDA_CHECK(cudaMalloc(&out, kMost));
  CUDA_CHECK(cudaMemset(x, 0, kMost));
  auto* const points = static_cast<float4*>(x);
  auto* const floats = static_cast<float*>(out);
  every_choice<1>(points, static_cast<int*>(out));
  broadcast_words<<<2, kBlock>>>(points, floats, 40);
  imaginary<<<2, kBlock>>>(static_cast<double2*>(x), static_cast<double*>(out));
  low_half<<<2, kBlock>>>(static_cast<__half2*>(x), static_cast<__half*>(out));
  high_word<<<2, kBlock>>>(static_cast<double*>(x), static_cast<int*>(out));
  low_word<<<2, kBlock>>>(static_cast<uint64_t*>(x),
                          static_cast<uint32_t*>(out));
  low_words<<<2, kBlock>>>(static_cast<ulonglong2*>(x),
                           static_cast<uint32_t*>(out));
  guarded<<<2, kBlock>>>(points, floats, 100);
  dropped<<<2, kBlock>>>(static_cast<float*>(x), floats);
  kept<<<2, kBlock>>>(static_cast<float*>(x), floats);
  point_to<<<2, kBlock>>>(static_cast<uint32_t**>(x),
                          static_cast<uint32_t*>(out));
  far<<<2, kBlock>>>(static_cast<uint32_t**>(x), 7);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
