// Asynchronous copies: every size and way, coalesced and strewn, in part, under
// conditions; barriers in shared memory.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 64;
constexpr int kBytes = 16384;  // Of a block's shared memory.

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void wait_for_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

template <int kSize>
__device__ void copy(uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from),
               "n"(kSize));
}

__device__ void copy_past_l1(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(from));
}

// Element i * from goes to i * to.
template <int kSize>
__global__ void through_l1(const uint8_t* x, float* y, int from, int to) {
  __shared__ alignas(128) uint8_t s[kBytes];
  const int i = threadIdx.x;
  copy<kSize>(shared_address(s) + i * to * kSize % kBytes,
              x + i * from * kSize);
  wait_for_all();
  __syncthreads();
  y[i] = s[i];
}

__global__ void past_l1(const uint8_t* x, float* y, int from, int to) {
  __shared__ alignas(128) uint8_t s[kBytes];
  const int i = threadIdx.x;
  copy_past_l1(shared_address(s) + i * to * 16 % kBytes, x + i * from * 16);
  wait_for_all();
  __syncthreads();
  y[i] = s[i];
}

// `taken` of 16 bytes; zeros follow.
__global__ void in_part(const uint8_t* x, float* y, int taken) {
  __shared__ alignas(128) uint8_t s[kBytes];
  const int i = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   shared_address(s) + i * 16),
               "l"(x + i * 16), "r"(taken));
  wait_for_all();
  __syncthreads();
  y[i] = s[i];
}

__global__ void ignored(const uint8_t* x, float* y, int below) {
  __shared__ alignas(128) uint8_t s[kBytes];
  const int i = threadIdx.x;
  asm volatile(
      "{\n"
      ".reg .pred past;\n"
      "setp.ge.s32 past, %2, %3;\n"
      "cp.async.ca.shared.global [%0], [%1], 4, past;\n"
      "}" ::"r"(shared_address(s) + i * 4),
      "l"(x + i * 4), "r"(i), "r"(below));
  wait_for_all();
  __syncthreads();
  y[i] = s[i];
}

__global__ void some_lanes(const uint8_t* x, float* y, int n) {
  __shared__ alignas(128) uint8_t s[kBytes];
  const int i = threadIdx.x;
  if (i < n) copy<4>(shared_address(s) + i * 4, x + i * 4);
  wait_for_all();
  __syncthreads();
  y[i] = s[i];
}

// Loads beside copies: what each uses of its sectors is another matter.
__global__ void both(const float* x, float* y) {
  __shared__ float s[kBlock];
  const int i = threadIdx.x;
  copy<4>(shared_address(&s[i]), x + i);
  const float other = x[2 * i];
  wait_for_all();
  __syncthreads();
  y[i] = s[kBlock - 1 - i] + other;
}

// A tile ahead, as programs do it.
__global__ void tiles(const float* x, float* y, int count) {
  __shared__ float s[2][kBlock];
  const int i = threadIdx.x;
  copy<4>(shared_address(&s[0][i]), x + i);
  asm volatile("cp.async.commit_group;");
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    if (k + 1 < count)
      copy<4>(shared_address(&s[(k + 1) % 2][i]), x + (k + 1) * kBlock + i);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += s[k % 2][kBlock - 1 - i];
    __syncthreads();
  }
  y[i] = sum;
}

__device__ void wait(uint64_t* bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar)), "r"(parity)
        : "memory");
}

__global__ void arrivals(float* y) {
  __shared__ uint64_t bar;
  __shared__ float s[kBlock];
  const int i = threadIdx.x;
  if (i == 0)
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&bar)),
        "r"(kBlock));
  __syncthreads();
  s[i] = i;
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&bar))
               : "memory");
  wait(&bar, 0);
  y[i] = s[kBlock - 1 - i];
}

__global__ void copies_arrive(const float* x, float* y) {
  __shared__ uint64_t bar;
  __shared__ float s[kBlock];
  const int i = threadIdx.x;
  if (i == 0)
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&bar)),
        "r"(kBlock));
  __syncthreads();
  copy<4>(shared_address(&s[i]), x + i);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                   shared_address(&bar))
               : "memory");
  wait(&bar, 0);
  y[i] = s[kBlock - 1 - i];
}

template <int kSize>
void of_size(const uint8_t* x, float* y) {
  for (int from : {0, 1, 2, 3, 8})
    through_l1<kSize><<<1, kBlock>>>(x, y, from, 1);
  for (int to : {2, 3, 8, 33}) through_l1<kSize><<<1, kBlock>>>(x, y, 1, to);
  through_l1<kSize><<<1, kBlock>>>(x + kSize, y, 1, 1);
  through_l1<kSize><<<1, 50>>>(x, y, 1, 1);
}

}  // namespace

int main() {
  const DeviceArray<uint8_t> bytes(1 << 16);
  const DeviceArray<float> out(4 * kBlock);
  CUDA_CHECK(cudaMemset(bytes.data(), 0, 1 << 16));
  const uint8_t* x = bytes.data();
  const auto floats = reinterpret_cast<const float*>(x);
  float* y = out.data();
  of_size<4>(x, y);
  of_size<8>(x, y);
  of_size<16>(x, y);
  for (int from : {0, 1, 2, 3, 5, 8})
    for (int to : {1, 2, 3}) past_l1<<<1, kBlock>>>(x, y, from, to);
  past_l1<<<1, kBlock>>>(x + 16, y, 1, 1);
  past_l1<<<1, 50>>>(x, y, 3, 1);
  for (int taken : {0, 3, 8, 16}) in_part<<<1, kBlock>>>(x, y, taken);
  for (int below : {0, 10, 40, 64}) ignored<<<1, kBlock>>>(x, y, below);
  for (int n : {5, 32, 41}) some_lanes<<<1, kBlock>>>(x, y, n);
  both<<<1, kBlock>>>(floats, y);
  tiles<<<1, kBlock>>>(floats, y, 5);
  arrivals<<<1, kBlock>>>(y);
  copies_arrive<<<1, kBlock>>>(floats, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
