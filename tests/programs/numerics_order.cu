// Addition of floats: which laws hold? One kernel adds, in launches of its own,
// so that no compiler can know what is going to be compared.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

using Floats = std::vector<float>;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

Floats add(const Floats& x, const Floats& y) {
  const int n = static_cast<int>(x.size());
  const size_t bytes = n * sizeof(float);
  float *device_x, *device_y, *device_z;
  cudaMalloc(&device_x, bytes);
  cudaMalloc(&device_y, bytes);
  cudaMalloc(&device_z, bytes);
  cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
  add_kernel<<<(n + 255) / 256, 256>>>(device_x, device_y, device_z, n);
  Floats z(n);
  cudaMemcpy(z.data(), device_z, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_y);
  cudaFree(device_z);
  return z;
}

// Bit by bit, so that a NaN equals the same NaN and 0 is not -0.
int differing(const Floats& x, const Floats& y) {
  int count = 0;
  for (size_t i = 0; i < x.size(); ++i)
    count += std::memcmp(&x[i], &y[i], sizeof(float)) != 0;
  return count;
}

int main() {
  const int n = 1 << 18;
  std::mt19937 random(2026);
  Floats a(n), b(n), c(n);

  // Any 32 bits are a float: huge and tiny ones, infinities, NaNs.
  for (Floats* x : {&a, &b}) {
    for (float& v : *x) {
      const uint32_t bits = random();
      std::memcpy(&v, &bits, sizeof v);
    }
  }
  const int swapped = differing(add(a, b), add(b, a));
  printf("a + b is not b + a:             %6d of %d pairs\n", swapped, n);

  for (Floats* x : {&a, &b, &c})
    for (float& v : *x) v = static_cast<float>(random() >> 8) * 0x1p-24f;
  const int regrouped = differing(add(add(a, b), c), add(a, add(b, c)));
  printf("(a + b) + c is not a + (b + c): %6d of %d triples\n", regrouped, n);

  const Floats big = {1e8f}, minus_big = {-1e8f}, one = {1};
  printf("(1e8 - 1e8) + 1 = %g\n", add(add(big, minus_big), one)[0]);
  printf("1e8 + (-1e8 + 1) = %g\n", add(big, add(minus_big, one))[0]);
  return swapped != 0 || regrouped == 0;
}
