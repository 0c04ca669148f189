// How many digits does a variance keep, found in five ways, of three arrays?
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kCount = 1024;

struct Variances {
  float squares, shifted, welford, both, two_passes;
};

// The mean of the squares of x - shift, less the square of their mean.
__device__ float by_squares(const float* x, float shift) {
  float sum = 0, squares = 0;
  for (int k = 0; k < kCount; ++k) {
    const float v = x[k] - shift;
    sum += v;
    squares += v * v;
  }
  const float mean = sum / kCount;
  return squares / kCount - mean * mean;
}

__device__ float by_welford(const float* x, float shift) {
  float mean = 0, squares = 0;  // The squares about this mean.
  for (int k = 0; k < kCount; ++k) {
    const float v = x[k] - shift, away = v - mean;
    mean += away / (k + 1);
    squares += away * (v - mean);
  }
  return squares / kCount;
}

__device__ float by_two_passes(const float* x) {
  float sum = 0, squares = 0;
  for (int k = 0; k < kCount; ++k) sum += x[k];
  const float mean = sum / kCount;
  for (int k = 0; k < kCount; ++k) squares += (x[k] - mean) * (x[k] - mean);
  return squares / kCount;
}

__global__ void variances(const float* x, Variances* found) {
  *found = {by_squares(x, 0.f), by_squares(x, x[0]), by_welford(x, 0.f),
            by_welford(x, x[0]), by_two_passes(x)};
}

double exact(const std::vector<float>& x) {
  double sum = 0, squares = 0;
  for (const double v : x) sum += v;
  for (const double v : x) squares += (v - sum / kCount) * (v - sum / kCount);
  return squares / kCount;
}

// Prints how far each variance is off, as a part of the right one.
Variances print(const char* name, const std::vector<float>& x) {
  float* device_x;
  Variances *device_found, found;
  cudaMalloc(&device_x, kCount * sizeof(float));
  cudaMalloc(&device_found, sizeof(Variances));
  cudaMemcpy(device_x, x.data(), kCount * sizeof(float),
             cudaMemcpyHostToDevice);
  variances<<<1, 1>>>(device_x, device_found);
  cudaMemcpy(&found, device_found, sizeof(Variances), cudaMemcpyDeviceToHost);
  cudaFree(device_found);
  cudaFree(device_x);
  const double right = exact(x);
  const auto off = [&](double v) { return std::fabs(v - right) / right; };
  printf("%-24s %8.0e  %8.0e  %8.0e  %8.0e  %10.0e\n", name, off(found.squares),
         off(found.shifted), off(found.welford), off(found.both),
         off(found.two_passes));
  return found;
}

int main() {
  std::vector<float> x(kCount);
  unsigned random = 1;
  for (float& v : x) {
    random = random * 1664525 + 1013904223;
    v = static_cast<float>(random >> 8) * 0x1p-24f;
  }
  printf("%24s  squares   shifted   Welford      both  two passes\n", "");
  print("0 to 1", x);
  std::vector<float> one_away = x;
  one_away[0] = 10'000;
  for (float& v : x) v += 10'000;
  const Variances far = print("10,000 to 10,001", x);
  print("0 to 1, the first 10,000", one_away);
  return std::fabs(far.two_passes * 12 - 1) > 0.1f;
}
