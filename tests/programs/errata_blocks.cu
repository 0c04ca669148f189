// The lecture's first three reductions, in our words, with blocks they were not
// made for. The numbers are ones, so a sum tells how many were added; behind
// them lie larger ones, so it shows where a kernel reads too far.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

const int kMade = 1024;  // The block that shared_sum was made for.
const float kBehind = 1 << 16;

__global__ void simple_sum(float* x) {
  const unsigned i = 2 * threadIdx.x;
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    if (threadIdx.x % stride == 0) x[i] += x[i + stride];
    __syncthreads();
  }
}

__global__ void convergent_sum(float* x) {
  for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
    if (threadIdx.x < stride) x[threadIdx.x] += x[threadIdx.x + stride];
    __syncthreads();
  }
}

__global__ void shared_sum(float* x) {
  __shared__ float part[kMade];
  part[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + kMade];
  for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) x[0] = part[0];
}

void print(const char* name, void (*kernel)(float*), int block) {
  const int n = 2 * block;
  std::vector<float> numbers(n, 1.f);
  numbers.resize(4 * kMade, kBehind);
  const size_t bytes = numbers.size() * sizeof(float);
  float* x;
  cudaMalloc(&x, bytes);
  cudaMemcpy(x, numbers.data(), bytes, cudaMemcpyHostToDevice);
  kernel<<<1, block>>>(x);
  cudaMemcpy(numbers.data(), x, bytes, cudaMemcpyDeviceToHost);
  cudaFree(x);
  const float most = *std::max_element(numbers.begin(), numbers.begin() + n);
  const int own = static_cast<int>(numbers[0]) % static_cast<int>(kBehind);
  printf("%-10s  block of %4d: %4d of %4d numbers%s\n", name, block, own, n,
         most >= kBehind ? ", and reads past them" : "");
}

int main() {
  for (const int block : {1024, 1000, 3}) {
    print("simple", simple_sum, block);
    print("convergent", convergent_sum, block);
  }
  print("shared", shared_sum, 1024);
  print("shared", shared_sum, 256);
  return 0;
}
