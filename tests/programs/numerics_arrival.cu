// The same numbers, in 32 orders of arrival: how many different sums? Atomics
// add in whatever order the hardware gets to; here each order is written down,
// so that it is the same in every run.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <vector>

const int kNumbers = 1024;
const int kOrders = 32;

// Lane k takes every (2 k + 1)-th number, round and round: being odd, the step
// meets each of the 1,024 once.
__global__ void add_in_order(const float* x, float* sums) {
  const uint32_t step = 2 * threadIdx.x + 1;
  float sum = 0;
  for (uint32_t i = 0; i < kNumbers; ++i) sum += x[i * step % kNumbers];
  sums[threadIdx.x] = sum;
}

std::vector<float> sums_of(const std::vector<float>& x) {
  float *device_x, *device_sums;
  cudaMalloc(&device_x, kNumbers * sizeof(float));
  cudaMalloc(&device_sums, kOrders * sizeof(float));
  cudaMemcpy(device_x, x.data(), kNumbers * sizeof(float),
             cudaMemcpyHostToDevice);
  add_in_order<<<1, kOrders>>>(device_x, device_sums);
  std::vector<float> sums(kOrders);
  cudaMemcpy(sums.data(), device_sums, kOrders * sizeof(float),
             cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_sums);
  return sums;
}

int main() {
  std::mt19937 random(2026);
  std::vector<float> x(kNumbers);
  double exact = 0;  // It is: multiples of 2^-24, below 2^10.
  for (float& v : x) exact += v = static_cast<float>(random() >> 8) * 0x1p-24f;

  const std::vector<float> sums = sums_of(x), again = sums_of(x);
  const std::set<float> different(sums.begin(), sums.end());
  printf("the exact sum      %.6f\n", exact);
  printf("%d orders, %d sums %.6f to %.6f\n", kOrders,
         static_cast<int>(different.size()), *different.begin(),
         *different.rbegin());
  int changed = 0;
  for (int k = 0; k < kOrders; ++k)
    changed += std::memcmp(&sums[k], &again[k], sizeof(float)) != 0;
  printf("once more, in the same orders: %d sums differ\n", changed);

  // Whole numbers, as long as all sums stay below 2^24, are exact.
  for (float& v : x) v = static_cast<float>(random() % 1000);
  const std::vector<float> whole = sums_of(x);
  printf("%d orders of whole numbers, %d sum\n", kOrders,
         static_cast<int>(std::set<float>(whole.begin(), whole.end()).size()));
  return changed != 0;
}
