// Loops that ptxas unrolls or leaves alone, and lanes that leave the kernel in
// their middle: where the others meet again shows in the accesses behind.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64, kNumbers = 8192;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- Turns that nobody knows ------------------------------------------------

// Conversions are inline assembly, in scopes of their own.
__global__ void normalise(const __half2* x, __half2* y, int n) {
  float sum = 0;
  for (int k = threadIdx.x; k < n; k += 32) {
    const float2 pair = __half22float2(x[k]);
    sum += pair.x + pair.y;
  }
  for (int k = threadIdx.x; k < n; k += 32) {
    const float2 pair = __half22float2(x[k]);
    y[k] = __floats2half2_rn(pair.x - sum, pair.y - sum);
  }
}

__global__ void sum_ifs(const int* x, int* y, int n) {
  int sum = 0, other = 1;
  for (int k = threadIdx.x; k < n; k += 32) {
    const int v = x[k], w = x[k + 1];
    if (v & 1) sum = (sum ^ w) / (v % 16 + 1);
    if (w & 2)
      other = (other + x[k + 2]) * (v | 1) + (other >> 3) + (sum & w);
    else
      other ^= (x[k + 3] >> (other & 7)) * (w | 1) + (sum | v);
    sum += (other ^ w) * (v + 3) + (other >> 1);
  }
  y[thread()] = sum ^ other;
}

__global__ void copy_walking(const int* x, int* y, int n) {
  for (int k = threadIdx.x; k < n; k += 32) y[k] = x[k] + 1;
}

__global__ void add_in_place(int* x, int n) {
  for (int k = threadIdx.x; k < n; k += kThreads) x[k] = x[k] * 3 + k;
}

__global__ void sum_down(const int* x, int* y, int n) {
  int sum = 0;
  for (int k = n; k > int(threadIdx.x); k -= 29) sum ^= x[k];
  y[thread()] = sum;
}

// ---- Turns that are known ---------------------------------------------------

__global__ void known_small(const int* x, int* y) {
  int sum = threadIdx.x;
  for (int k = 0; k < 100; ++k) sum = sum * 5 + x[k];
  if (sum & 1) sum = x[sum & 1023] / (x[threadIdx.x] | 1) % (sum | 3);
  y[thread()] = sum;
}

__global__ void known_large(const int* x, int* y) {
  int sum = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 48; ++j) sum = sum * 5 + x[j] * (sum >> 3) + j * k;
  for (int k = 0; k < 400; ++k) {
    if (sum & 1) sum ^= (sum >> 3) * (sum >> 5) + x[sum & 1023];
    sum = sum * 7 + x[k];
  }
  y[thread()] = sum;
}

__global__ void known_break(const int* x, int* y) {
  int k = 0, sum = 0;
  for (; k < 24; ++k) {
    sum += x[(threadIdx.x * 5 + k * 3) & 1023];
    if (sum % 61 > 50) break;
  }
  y[thread()] = sum + k;
}

__global__ void known_barriers(const int* x, int* y) {
  __shared__ int places[kThreads];
  int sum = places[threadIdx.x] = threadIdx.x;
  for (int k = 0; k < 20; ++k) {
    __syncthreads();
    if (int(threadIdx.x) <= k * 3)
      sum = sum * 5 + places[(threadIdx.x + k) % kThreads];
    __syncthreads();
    places[threadIdx.x] = sum;
  }
  y[thread()] = sum;
}

// ---- Leaving ----------------------------------------------------------------

__global__ void loop_return(const int* n, int* y) {
  int sum = 0;
  for (int k = 0; k < n[threadIdx.x] % 7; ++k) {
    if (sum > 100) return;
    sum += k * sum + 1;
  }
  y[thread()] = sum;
}

__global__ void if_return(const int* n, int* y) {
  int sum = 0;
  if (n[threadIdx.x] % 7 > 3) {
    sum = n[63 - threadIdx.x] * 3;
    if (sum > 1000) return;
    sum *= n[threadIdx.x / 2];
  } else {
    sum = n[threadIdx.x ^ 1];
  }
  y[thread()] = sum;
}

__global__ void loop_trap(const int* n, int* y) {
  int sum = 0;
  for (int k = 0; k < n[threadIdx.x] % 7; ++k) {
    if (sum > 100000) {
      asm volatile("trap;");
      __builtin_unreachable();
    }
    sum += k * sum + 1;
  }
  y[thread()] = sum;
}

__global__ void store_return(const int* n, int* y) {
  for (int k = 0; k < 20; ++k) {
    const int v = n[threadIdx.x * 3 + k * 64];
    if (v % 11 == 0) {
      y[thread()] = k;
      return;
    }
    if (v % 5 == 0) y[thread() + 64] += n[v & 1023];
  }
  y[thread()] = -1;
}

__global__ void nested_return(const int* n, int* y) {
  int sum = 0;
  for (int k = 0; k < n[threadIdx.x] % 5; ++k) {
    for (int j = 0; j < n[threadIdx.x + k] % 6; ++j) {
      sum += n[(sum + j) & 1023];
      if (sum % 97 == 3) return;
    }
    y[thread() + 64 * k] = sum;
  }
  y[thread()] = sum;
}

__global__ void switch_return(const int* n, int* y) {
  const int v = n[threadIdx.x];
  int sum = 0;
  switch (v % 4) {
    case 0:
      y[thread()] = v;
      return;
    case 1:
      for (int k = 0; k < v % 9; ++k) sum += n[k * v & 1023];
      break;
    case 2:
      sum = n[v & 1023] * 3;
      if (sum & 4) return;
      break;
    default:
      sum = v;
  }
  y[thread()] = sum;
}

}  // namespace

int main() {
  std::vector<int> numbers(kNumbers);
  unsigned state = 1;
  for (int& x : numbers) x = (state = state * 1664525 + 1013904223) >> 9;
  const DeviceArray<int> from(numbers), to(kNumbers);
  const DeviceArray<__half2> halves(kNumbers), out(kNumbers);
  CUDA_CHECK(cudaMemset(halves.data(), 0, kNumbers * sizeof(__half2)));
  CUDA_CHECK(cudaMemset(to.data(), 0, kNumbers * sizeof(int)));
  const int* x = from.data();
  int* y = to.data();

  normalise<<<1, 32>>>(halves.data(), out.data(), 255);
  sum_ifs<<<2, kThreads>>>(x, y, 700);
  copy_walking<<<1, 32>>>(x, y, 1255);
  add_in_place<<<1, kThreads>>>(y, 1255);
  sum_down<<<2, kThreads>>>(x, y, 1000);
  known_small<<<2, kThreads>>>(x, y);
  known_large<<<2, kThreads>>>(x, y);
  known_break<<<2, kThreads>>>(x, y);
  known_barriers<<<2, kThreads>>>(x, y);
  loop_return<<<2, kThreads>>>(x, y);
  if_return<<<2, kThreads>>>(x, y);
  loop_trap<<<2, kThreads>>>(x, y);
  store_return<<<1, kThreads>>>(x, y);
  nested_return<<<1, kThreads>>>(x, y);
  switch_return<<<2, kThreads>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
