// Softmax of each row, a block per row: maximum, sum of exponentials, quotient.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <vector>

__device__ float block_max(float value, float* scratch) {
  scratch[threadIdx.x] = value;
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      scratch[threadIdx.x] =
          fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + stride]);
    }
  }
  __syncthreads();
  float result = scratch[0];
  __syncthreads();
  return result;
}

__device__ float block_sum(float value, float* scratch) {
  scratch[threadIdx.x] = value;
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride)
      scratch[threadIdx.x] += scratch[threadIdx.x + stride];
  }
  __syncthreads();
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float scratch[128];
  const float* row = in + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    largest = fmaxf(largest, row[j]);
  }
  largest = block_max(largest, scratch);
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    sum += expf(row[j] - largest);
  }
  sum = block_sum(sum, scratch);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    out[blockIdx.x * columns + j] = expf(row[j] - largest) / sum;
  }
}

int main() {
  const int rows = 20, columns = 300;
  std::vector<float> in(rows * columns), out(rows * columns);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (float)(i * 37 % 101) / 8 + 80;
  float *device_in, *device_out;
  cudaMalloc(&device_in, in.size() * sizeof(float));
  cudaMalloc(&device_out, in.size() * sizeof(float));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(float),
             cudaMemcpyHostToDevice);
  softmax<<<rows, 128>>>(device_in, device_out, columns);
  cudaMemcpy(out.data(), device_out, in.size() * sizeof(float),
             cudaMemcpyDeviceToHost);
  double worst = 0;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      sum += std::exp((double)in[i * columns + j]);
    for (int j = 0; j < columns; ++j) {
      double expected = std::exp((double)in[i * columns + j]) / sum;
      worst = std::fmax(worst, std::fabs(out[i * columns + j] / expected - 1));
    }
  }
  printf("softmax of %d rows is %s\n", rows, worst < 2e-6 ? "right" : "wrong");
  cudaFree(device_in);
  cudaFree(device_out);
  return worst >= 2e-6;
}
