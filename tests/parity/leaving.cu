// Loops that the lanes of a warp leave one by one: who waits for whom, and
// how many lanes are active meanwhile.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 64;
constexpr int kBlocks = 4;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void collatz(int* y) {
  uint32_t v = thread() + 1;
  int steps = 0;
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  y[thread()] = steps;
}

__global__ void collatz_break(int* y) {
  uint32_t v = thread() + 1;
  int steps = 0;
  for (int k = 0; k < 500; ++k) {
    if (v == 1) break;
    if (v & 1)
      v = 3 * v + 1;
    else
      v >>= 1;
    ++steps;
  }
  y[thread()] = steps;
}

__global__ void trips(const int* n, float* y) {
  float sum = 0;
  for (int k = 0; k < n[threadIdx.x]; ++k) sum += __sinf(sum + k);
  y[thread()] = sum;
}

__global__ void inner_trips(const int* n, float* y) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int end = n[(threadIdx.x + 11 * i) % kBlock];
    for (int k = 0; k < end; ++k) sum += __sinf(sum + k);
    sum *= .5f;
  }
  y[thread()] = sum;
}

__global__ void newton(const float* x, float* y) {
  const float v = x[thread()];
  float root = v;
  for (int k = 0; k < 100; ++k) {
    const float next = .5f * (root + v / root);
    if (fabsf(next - root) <= 1e-6f * root) break;
    root = next;
  }
  y[thread()] = root;
}

__global__ void mandelbrot(int* y, int width, int most) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = column * (3.f / width) - 2, cy = row * (3.f / width) - 1.5f;
  float a = 0, b = 0;
  int k = 0;
  while (k < most && a * a + b * b < 4) {
    const float t = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = t;
    ++k;
  }
  y[row * width + column] = k;
}

__global__ void binary_search(const int* sorted, int n, int* y) {
  const int wanted = thread() * 37 % 1009;
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] == wanted) {
      low = middle;
      break;
    }
    if (sorted[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  y[thread()] = low;
}

__global__ void list_walk(const int* next, int* y) {
  int at = thread() % kBlock, length = 0;
  while (at >= 0) {
    at = next[at];
    ++length;
  }
  y[thread()] = length;
}

__global__ void return_inside(const int* n, float* y) {
  float v = threadIdx.x;
  for (int k = 0;; ++k) {
    v = __sinf(v) + 1;
    if (k == n[threadIdx.x]) {
      y[thread()] = v;
      return;
    }
  }
}

__device__ __noinline__ int steps_from(uint32_t v) {
  int steps = 0;
  while (v != 1) {
    if (++steps > 400) return -1;
    v = v % 2 ? 3 * v + 1 : v / 2;
  }
  return steps;
}

__global__ void collatz_call(int* y) {
  int most = 0;
  for (int k = 0; k < 3; ++k)
    most = max(most, steps_from(thread() * 3 + k + 1));
  y[thread()] = most;
}

__global__ void gcd(int* y) {
  int a = 7 * thread() + 3, b = 5 * thread() + 1;
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  y[thread()] = a;
}

}  // namespace

int main() {
  std::vector<int> n(kBlock), next(kBlock), sorted(300);
  std::vector<float> x(kBlock * kBlocks);
  for (int l = 0; l < kBlock; ++l) {
    n[l] = l * 7 % 32;
    next[l] = l < 5 ? -1 : l - l % 4 - 1;
  }
  for (size_t k = 0; k < sorted.size(); ++k) sorted[k] = 3 * k + k % 5;
  for (size_t k = 0; k < x.size(); ++k) x[k] = 1 + k * k % 1013;
  const DeviceArray<int> counts(n), links(next), order(sorted), out(32 * 32);
  const DeviceArray<float> values(x), to(kBlock * kBlocks);
  int* y = out.data();

  collatz<<<kBlocks, kBlock>>>(y);
  collatz_break<<<kBlocks, kBlock>>>(y);
  collatz_call<<<kBlocks, kBlock>>>(y);
  trips<<<kBlocks, kBlock>>>(counts.data(), to.data());
  inner_trips<<<kBlocks, kBlock>>>(counts.data(), to.data());
  newton<<<kBlocks, kBlock>>>(values.data(), to.data());
  mandelbrot<<<dim3(4, 4), dim3(8, 8)>>>(y, 32, 60);
  mandelbrot<<<dim3(1, 4), dim3(32, 8)>>>(y, 32, 60);
  binary_search<<<kBlocks, kBlock>>>(order.data(), 300, y);
  list_walk<<<kBlocks, kBlock>>>(links.data(), y);
  return_inside<<<kBlocks, kBlock>>>(counts.data(), to.data());
  gcd<<<kBlocks, kBlock>>>(y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
