// A seven-point stencil in three dimensions, coefficients in constant memory.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <vector>

__constant__ float weights[7];

__global__ void stencil(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  out[i] = weights[0] * in[i] + weights[1] * in[i - 1] +
           weights[2] * in[i + 1] + weights[3] * in[i - n] +
           weights[4] * in[i + n] + weights[5] * in[i - n * n] +
           weights[6] * in[i + n * n];
}

int main() {
  const int n = 22;
  const float host_weights[7] = {0.5f,    0.125f,  0.125f, 0.0625f,
                                 0.0625f, 0.0625f, 0.0625f};
  std::vector<float> in(n * n * n), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = (float)(i % 64);
  size_t bytes = in.size() * sizeof(float);
  float *device_in, *device_out;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights);
  cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(device_out, 0, bytes);
  stencil<<<dim3(3, 3, 3), dim3(8, 8, 8)>>>(device_in, device_out, n);
  cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost);
  const int offsets[7] = {0, -1, 1, -n, n, -n * n, n * n};
  int wrong = 0;
  double sum = 0;
  for (int i = 0; i < n * n * n; ++i) {
    int x = i % n, y = i / n % n, z = i / n / n;
    bool inside =
        x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
    float expected = 0;  // All terms are multiples of 1/16: exact.
    for (int k = 0; inside && k < 7; ++k) {
      expected += host_weights[k] * in[i + offsets[k]];
    }
    wrong += out[i] != expected;
    sum += out[i];
  }
  printf("sum %.4f, %d wrong\n", sum, wrong);
  cudaFree(device_in);
  cudaFree(device_out);
  return wrong != 0;
}
