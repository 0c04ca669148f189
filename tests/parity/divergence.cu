// Control flow of every shape, entered by a warp together and left together.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 128;
constexpr int kBlocks = 2;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void guard(const float* x, float* y, int n) {
  const int i = thread();
  if (i < n) y[i] = x[i];
}

__global__ void guard_by_return(const float* x, float* y, int n) {
  const int i = thread();
  if (i >= n) return;
  y[i] = sqrtf(x[i]) + 1;
}

// Both sides are loops: no compiler makes that branch-free.
__global__ void two_sides(const float* x, float* y, int mask, int n) {
  float v = x[thread()];
  if (threadIdx.x & mask) {
    for (int k = 0; k < n; ++k) v = v * v + 1;
  } else {
    for (int k = 0; k < n; ++k) v = __sinf(v) + .25f;
  }
  y[thread()] = v;
}

__global__ void small_sides(const float* x, float* y) {
  const int i = thread();
  const float v = x[i];
  if (i & 1)
    y[i] = v * 2;
  else
    y[i] = v + 1;
}

__global__ void loads_on_one_side(const float* x, const float* z, float* y) {
  const int i = thread();
  float v = x[i];
  if (i % 4 == 0) v += z[i] * z[i + 1];
  y[i] = v;
}

__global__ void nested_loops(const int* trips, float* y) {
  float sum = 0;
  const int n = trips[threadIdx.x % 32];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < n % 5; ++j) {
      sum += __sinf(sum + j);
      if (j % 2 == (threadIdx.x & 1)) sum *= 1.5f;
    }
    if (threadIdx.x % 7 == i) sum = -sum;
  }
  y[thread()] = sum;
}

__global__ void by_switch(const int* trips, float* y) {
  float v = threadIdx.x;
  switch (trips[threadIdx.x % 32] % 6) {
    case 0:
      v = sqrtf(v);
      break;
    case 1:
      v = __expf(v);
      break;
    case 2:
      for (int k = 0; k < 5; ++k) v = __sinf(v);
      break;
    case 3:
      v = v / 3;
      [[fallthrough]];
    case 4:
      v = __cosf(v) * v;
      break;
    default:
      v = -1;
  }
  y[thread()] = v;
}

__global__ void by_goto(const int* trips, float* y) {
  float v = threadIdx.x;
  int k = trips[threadIdx.x % 32] % 8;
again:
  v = __sinf(v) * 2;
  if (--k > 0) {
    if (v > 1.9f) goto done;
    goto again;
  }
  v += 1;
done:
  y[thread()] = v;
}

__global__ void skips(const int* trips, float* y) {
  float v = 0;
  for (int k = 0; k < 16; ++k) {
    if ((trips[threadIdx.x % 32] >> (k & 3)) & 1) continue;
    v += __sinf(v + k);
  }
  y[thread()] = v;
}

__device__ __noinline__ float work(float v, int n) {
  for (int k = 0; k < n; ++k) {
    if (v > 4) return v * .5f;
    v = v * 1.25f + .5f;
  }
  return v;
}

__global__ void calls(const int* trips, float* y) {
  float v = work(threadIdx.x * .125f, 6);
  if (threadIdx.x % 2) v += work(v, trips[threadIdx.x % 32]);
  y[thread()] = v;
}

__device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursion(const int* trips, float* y) {
  y[thread()] = fibonacci(trips[threadIdx.x % 32] % 7);
}

__global__ void short_circuit(const int* a, const float* x, float* y) {
  const int i = thread();
  if (a[i % 32] > 3 && x[i] >= 0 && a[(i + 5) % 32] != 7) y[i] = x[i] + 1;
}

__global__ void selects(const int* a, float* y) {
  const int v = a[threadIdx.x % 32];
  const int w = v > 10 ? v * 3 : v > 5 ? v + 100 : v - 1;
  y[thread()] = max(w, 7) + min(v, 3);
}

__global__ void leader(const float* x, float* y) {
  const float v = x[thread()] + 1;
  if (threadIdx.x == 0) y[blockIdx.x] = v;
}

__global__ void first_warp(const float* x, float* y) {
  float v = x[thread()];
  if (threadIdx.x < 32)
    for (int k = 0; k < 10; ++k) v += __sinf(v);
  y[thread()] = v;
}

__global__ void early_exit(const float* x, float* y, int n) {
  const int i = thread();
  if (i % 5 == 0) return;
  float v = x[i];
  for (int k = 0; k < n; ++k) v = v * v + 1;
  if (i % 3 == 0) return;
  y[i] = v;
}

}  // namespace

int main() {
  std::vector<int> host(32);
  for (int l = 0; l < 32; ++l) host[l] = l * 5 % 23;
  const DeviceArray<int> trips(host);
  const DeviceArray<float> from(kBlock * kBlocks + 1), to(kBlock * kBlocks);
  CUDA_CHECK(cudaMemset(from.data(), 0, from.size() * sizeof(float)));
  const int* t = trips.data();
  const float* x = from.data();
  float* y = to.data();

  guard<<<kBlocks, kBlock>>>(x, y, 2 * kBlock);
  guard<<<kBlocks, kBlock>>>(x, y, kBlock + 41);
  guard_by_return<<<kBlocks, kBlock>>>(x, y, kBlock + 41);
  for (int mask : {1, 2, 16, 32, 64})
    two_sides<<<kBlocks, kBlock>>>(x, y, mask, 7);
  small_sides<<<kBlocks, kBlock>>>(x, y);
  loads_on_one_side<<<kBlocks, kBlock>>>(x, x, y);
  nested_loops<<<kBlocks, kBlock>>>(t, y);
  by_switch<<<kBlocks, kBlock>>>(t, y);
  by_goto<<<kBlocks, kBlock>>>(t, y);
  skips<<<kBlocks, kBlock>>>(t, y);
  calls<<<kBlocks, kBlock>>>(t, y);
  recursion<<<kBlocks, kBlock>>>(t, y);
  short_circuit<<<kBlocks, kBlock>>>(t, x, y);
  selects<<<kBlocks, kBlock>>>(t, y);
  leader<<<kBlocks, kBlock>>>(x, y);
  first_warp<<<kBlocks, kBlock>>>(x, y);
  early_exit<<<kBlocks, kBlock>>>(x, y, 9);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
