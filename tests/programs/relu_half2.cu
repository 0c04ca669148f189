// ReLU of halves, two per thread with one instruction, for every half there is.
#include <cuda_fp16.h>

#include <cstdio>
#include <vector>

// A NaN passes __hmax2_nan; __hmax2 returns the other operand, here 0.
__global__ void relu_kernel(const __half2* x, __half2* y, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < pairs) y[i] = __hmax2_nan(x[i], __float2half2_rn(0.f));
}

__global__ void swallowing_kernel(const __half2* x, __half2* y, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < pairs) y[i] = __hmax2(x[i], __float2half2_rn(0.f));
}

// Equal bits, or both NaN.
bool same(__half a, __half b) {
  if (__hisnan(a)) return __hisnan(b);
  return __half_as_ushort(a) == __half_as_ushort(b);
}

int main() {
  const int n = 1 << 16;
  std::vector<__half> all(n), got(n), swallowed(n);
  for (int i = 0; i < n; ++i) all[i] = __ushort_as_half(i);
  __half2 *x, *y;
  cudaMalloc(&x, n * sizeof(__half));
  cudaMalloc(&y, n * sizeof(__half));
  cudaMemcpy(x, all.data(), n * sizeof(__half), cudaMemcpyHostToDevice);
  relu_kernel<<<n / 512, 256>>>(x, y, n / 2);
  cudaMemcpy(got.data(), y, n * sizeof(__half), cudaMemcpyDeviceToHost);
  swallowing_kernel<<<n / 512, 256>>>(x, y, n / 2);
  cudaMemcpy(swallowed.data(), y, n * sizeof(__half), cudaMemcpyDeviceToHost);

  int wrong = 0, zeros = 0, nans = 0;
  const __half zero = __ushort_as_half(0);
  for (int i = 0; i < n; ++i) {
    const float v = __half2float(all[i]);
    wrong += !same(v <= 0.f ? zero : all[i], got[i]);
    nans += v != v;
    zeros += v != v && same(zero, swallowed[i]);
  }
  printf("__hmax2_nan: %d of %d halves are wrong\n", wrong, n);
  printf("__hmax2: %d of %d NaNs become 0\n", zeros, nans);
  cudaFree(x);
  cudaFree(y);
  return wrong != 0 || zeros != nans;
}
