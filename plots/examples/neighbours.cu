// Chapter 08's sum with the pairs of chapter 06: in shared memory neighbours
// meet first, and the numbers left lie 2, 4, 8, ... words apart. Its bank
// conflicts are drawn there, and what one word of padding after every 32 makes
// of them.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kBlock = 1024;

__device__ int padded(int word) { return word + word / 32; }

__global__ void neighbours_kernel(const float* x, float* out) {
  __shared__ float tile[kBlock];
  tile[threadIdx.x] = x[threadIdx.x];
  for (int stride = 1; stride < kBlock; stride *= 2) {
    __syncthreads();
    const int at = 2 * stride * threadIdx.x;
    if (at < kBlock) tile[at] += tile[at + stride];
  }
  if (threadIdx.x == 0) *out = tile[0];
}

__global__ void padded_kernel(const float* x, float* out) {
  __shared__ float tile[kBlock + kBlock / 32];
  tile[padded(threadIdx.x)] = x[threadIdx.x];
  for (int stride = 1; stride < kBlock; stride *= 2) {
    __syncthreads();
    const int at = 2 * stride * threadIdx.x;
    if (at < kBlock) tile[padded(at)] += tile[padded(at + stride)];
  }
  if (threadIdx.x == 0) *out = tile[0];
}

int main() {
  float ones[kBlock], sums[2];
  for (float& one : ones) one = 1;
  float *x, *out;
  cudaMalloc(&x, sizeof ones);
  cudaMalloc(&out, sizeof sums);
  cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice);
  neighbours_kernel<<<1, kBlock>>>(x, out);
  padded_kernel<<<1, kBlock>>>(x, out + 1);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  printf("%g and %g\n", sums[0], sums[1]);
  return sums[0] != kBlock || sums[1] != kBlock;
}
