// How far does a sum of equal numbers get in 8, 11 and 24 significant bits?
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

struct Results {
  float ones;        // where 1 + 1 + 1 + ... stops to grow
  float tenths;      // where 0.1 + 0.1 + ... does
  float small_step;  // 1000 + 1
  float beyond;      // 60000 + 10000
};

// Adds until that changes nothing any more.
template <class T>
__device__ T add_until_stuck(T sum, T step) {
  for (T next = sum + step; next != sum; next = sum + step) sum = next;
  return sum;
}

template <class T>
__global__ void stick(float ones_from, float tenths_from, Results* results) {
  results->ones = add_until_stuck(T(ones_from), T(1.f));
  results->tenths = add_until_stuck(T(tenths_from), T(0.1f));
  results->small_step = T(1000.f) + T(1.f);
  results->beyond = T(60000.f) + T(10000.f);
}

template <class T>
Results print(const char* type, float ones_from = 0, float tenths_from = 0) {
  Results *device_results, r;
  cudaMalloc(&device_results, sizeof(Results));
  stick<T><<<1, 1>>>(ones_from, tenths_from, device_results);
  cudaMemcpy(&r, device_results, sizeof(Results), cudaMemcpyDeviceToHost);
  cudaFree(device_results);
  printf("%-8s  %11.0f  %15.0f  %8.0f  %13.0f\n", type, r.ones, r.tenths,
         r.small_step, r.beyond);
  return r;
}

int main() {
  printf("          1 + 1 + ...  0.1 + 0.1 + ...  1000 + 1  60000 + 10000\n");
  print<__nv_bfloat16>("bfloat16");
  print<__half>("half");
  // Not from 0: 16 million additions, one by one, would take a while.
  const Results r = print<float>("float", 0x1p24f - 1000, 0x1p21f - 1000);
  return r.ones != 0x1p24f;
}
