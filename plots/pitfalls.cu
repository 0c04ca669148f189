// make pitfalls        measure wrongly, on purpose
// needs: plots/pitfalls.program
//
// Nothing here is worth copying: five ways to get a bandwidth wrong, each
// beside the right one, for docs/how-not-to-measure.md. Prints JSON; needs a
// GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 256;
constexpr int64_t kSmall = 1 << 20;
constexpr int64_t kSlice = 1 << 22;  // 32 MB to move: the L2 cache holds them.
constexpr int64_t kLarge = 1 << 28;  // 2 GB: it does not.
constexpr int kCalls = 50;

__global__ void copy_kernel(const float4* __restrict__ x,
                            float4* __restrict__ y, int64_t packs) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < packs) y[i] = x[i];
}

// Lanes that take the banks of shared memory in the worst order: that unit is
// as busy as it can be, and DRAM idles.
__global__ void conflicts_kernel(const float* __restrict__ x,
                                 float* __restrict__ y, int rounds) {
  __shared__ float words[32 * 32];
  const int lane = threadIdx.x % 32;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x) words[k] = x[k];
  __syncthreads();
  float sum = 0.f;
  for (int k = 0; k < rounds; ++k) sum += words[lane * 32 + (k % 32)];
  y[i] = sum;
}

void copy(const DeviceArray<float>& x, const DeviceArray<float>& y, int64_t n) {
  const int64_t packs = n / 4;
  copy_kernel<<<(packs + kBlock - 1) / kBlock, kBlock>>>(
      reinterpret_cast<const float4*>(x.data()),
      reinterpret_cast<float4*>(y.data()), packs);
  CUDA_CHECK(cudaGetLastError());
}

double gbps(int64_t n, double us) { return 8e-3 * static_cast<double>(n) / us; }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

struct Event {
  Event() { CUDA_CHECK(cudaEventCreate(&handle)); }
  ~Event() { cudaEventDestroy(handle); }
  void record() const { CUDA_CHECK(cudaEventRecord(handle)); }
  cudaEvent_t handle;
};

// Microseconds on the GPU between two events around `call`.
template <class Call>
double event_us(Call call) {
  const Event start, stop;
  start.record();
  call();
  stop.record();
  CUDA_CHECK(cudaEventSynchronize(stop.handle));
  float ms = 0.f;
  CUDA_CHECK(cudaEventElapsedTime(&ms, start.handle, stop.handle));
  return 1e3 * ms;
}

// Microseconds by the host's clock.
template <class Call>
double host_us(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - start;
  return spent.count();
}

template <class Call>
double median_us(Call call) {
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) times.push_back(event_us(call));
  return median(times);
}

void synchronise() { CUDA_CHECK(cudaDeviceSynchronize()); }

void print(const char* name, double wrong, double right,
           const char* end = ",") {
  std::printf("  \"%s\": {\"wrong\": %.4g, \"right\": %.4g}%s\n", name, wrong,
              right, end);
}

// Microseconds a call, of many between two events: on one slice of the arrays
// after the other, or (shift 0) always on the first.
double slice_us(const DeviceArray<float>& x, const DeviceArray<float>& y,
                int64_t shift) {
  constexpr int kSlices = kLarge / kSlice;
  const double us = event_us([&] {
    for (int k = 0; k < kSlices; ++k) {
      copy_kernel<<<kSlice / 4 / kBlock, kBlock>>>(
          reinterpret_cast<const float4*>(x.data() + k * shift),
          reinterpret_cast<float4*>(y.data() + k * shift), kSlice / 4);
    }
  });
  CUDA_CHECK(cudaGetLastError());
  return us / kSlices;
}

}  // namespace

// With an argument: only the kernel that ncu is to look at.
int main(int argc, char**) {
  std::vector<float> values(kLarge);
  std::mt19937 random(2026);
  for (float& v : values) v = static_cast<float>(random()) * 0x1p-31f - 1.f;
  const DeviceArray<float> y(kLarge);
  if (argc > 1) {
    const DeviceArray<float> x(values);
    conflicts_kernel<<<4096, kBlock>>>(x.data(), y.data(), 4096);
    CUDA_CHECK(cudaGetLastError());
    synchronise();
    return 0;
  }

  std::printf("{\n");
  const DeviceArray<float> x(values);
  synchronise();
  const double first = event_us([&] { copy(x, y, kSmall); });
  const double later = median_us([&] { copy(x, y, kSmall); });
  print("first launch, us", first, later);

  for (int i = 0; i < 3; ++i) slice_us(x, y, kSlice);
  print("in the cache, GB/s", gbps(kSlice, slice_us(x, y, 0)),
        gbps(kSlice, slice_us(x, y, kSlice)));

  const double right = median_us([&] { copy(x, y, kLarge); });
  synchronise();
  const double unwaited = host_us([&] { copy(x, y, kLarge); });
  synchronise();
  print("host clock, not waiting, GB/s", gbps(kLarge, unwaited),
        gbps(kLarge, right));

  std::vector<double> waited;
  for (int i = 0; i < kCalls; ++i) {
    waited.push_back(host_us([&] {
      copy(x, y, kSmall);
      synchronise();
    }));
  }
  print("host clock, waiting, small, us", median(waited), later);

  CUDA_CHECK(cudaMemset(x.data(), 0, kLarge * sizeof(float)));
  const double zeros = median_us([&] { copy(x, y, kLarge); });
  print("all zeros, GB/s", gbps(kLarge, zeros), gbps(kLarge, right), "");
  std::printf("}\n");
}
