// Prefix sums of a block in two ways: Kogge and Stone's, which does more work
// in fewer steps, and Brent and Kung's, which does less in more.
#include <cuda.h>

#include <cstdio>
#include <vector>

#define SECTION 512

__global__ void kogge_stone(const int* in, int* out, int n) {
  __shared__ int values[SECTION];
  int t = threadIdx.x;
  int i = blockIdx.x * SECTION + t;
  values[t] = i < n ? in[i] : 0;
  for (int stride = 1; stride < SECTION; stride *= 2) {
    __syncthreads();
    int sum = values[t];
    if (t >= stride) sum += values[t - stride];
    __syncthreads();
    values[t] = sum;
  }
  if (i < n) out[i] = values[t];
}

__global__ void brent_kung(const int* in, int* out, int n) {
  __shared__ int values[SECTION];
  int t = threadIdx.x;
  int i = blockIdx.x * SECTION + t;
  values[t] = i < n ? in[i] : 0;
  values[t + SECTION / 2] = i + SECTION / 2 < n ? in[i + SECTION / 2] : 0;
  for (int stride = 1; stride <= SECTION / 2; stride *= 2) {
    __syncthreads();
    int at = (t + 1) * 2 * stride - 1;
    if (at < SECTION) values[at] += values[at - stride];
  }
  for (int stride = SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    int at = (t + 1) * 2 * stride - 1;
    if (at + stride < SECTION) values[at + stride] += values[at];
  }
  __syncthreads();
  if (i < n) out[i] = values[t];
  if (i + SECTION / 2 < n) out[i + SECTION / 2] = values[t + SECTION / 2];
}

int main() {
  const int n = 2000;
  const int blocks = (n + SECTION - 1) / SECTION;
  std::vector<int> in(n), got(n);
  for (int i = 0; i < n; ++i) in[i] = i * 31 % 19 - 9;
  int *device_in, *device_out;
  cudaMalloc(&device_in, n * sizeof(int));
  cudaMalloc(&device_out, n * sizeof(int));
  cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  int wrong = 0;
  for (int way = 0; way < 2; ++way) {
    cudaMemset(device_out, 0xff, n * sizeof(int));
    if (way == 0) {
      kogge_stone<<<blocks, SECTION>>>(device_in, device_out, n);
    } else {
      brent_kung<<<blocks, SECTION / 2>>>(device_in, device_out, n);
    }
    cudaMemcpy(got.data(), device_out, n * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum = i % SECTION == 0 ? in[i] : sum + in[i];
      wrong += got[i] != sum;
    }
    printf("%s: last sum %d\n", way == 0 ? "Kogge-Stone" : "Brent-Kung",
           got[n - 1]);
  }
  cudaFree(device_in);
  cudaFree(device_out);
  return wrong != 0;
}
