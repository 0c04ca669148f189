// Where the error of chapter 09's sum comes from.
//
// Every number is 0.1. Adding equal numbers in pairs only doubles them, and a
// float doubles exactly: no tree makes an error here. Whatever is off comes
// from the additions to the result, one per block. As all blocks add the same,
// it does not matter in which order they come, and every GPU prints the same
// digits.
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/check.h"
#include "common/harness/device_array.h"

constexpr int kMostThreads = 1024;

// Chapter 09's kernel, for any block of 2^k threads that fills x.
__global__ void sum_kernel(const float* __restrict__ x,
                           float* __restrict__ out) {
  __shared__ float tile[kMostThreads];
  const unsigned i = blockIdx.x * 2 * blockDim.x + threadIdx.x;

  tile[threadIdx.x] = x[i] + x[i + blockDim.x];
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) atomicAdd(out, tile[0]);
}

int main() {
  constexpr int kN = 1 << 20;
  const DeviceArray<float> x(std::vector<float>(kN, 0.1f));
  const double exact = double{kN} * 0.1f;

  std::printf("%d times 0.1 is %.1f in floats.\n\n", kN, exact);
  std::printf("  blocks        sum   off by, in 2^-24 of it\n");
  for (int block = kMostThreads; block >= 16; block /= 4) {
    const DeviceArray<float> out(std::vector<float>{0.f});
    const int grid = kN / (2 * block);
    sum_kernel<<<grid, block>>>(x.data(), out.data());
    CUDA_CHECK(cudaGetLastError());
    const double sum = out.to_host()[0];
    std::printf("%8d   %8.1f   %22.0f\n", grid, sum,
                std::fabs(sum - exact) / exact * 0x1p24);
  }
  return 0;
}
