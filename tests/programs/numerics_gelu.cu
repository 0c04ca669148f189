// Two formulas for one function, GELU: x / 2 (1 + tanh(u)), and the same number
// as x / (1 + exp(-2u)). How far off is each, computed in float? tanh and exp
// are right to the last digit here, so what is lost is the formula's doing.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

const float kFirst = -6, kLast = 3;
const int kSamples = 64;  // Of each piece, a quarter long.

struct Sample {
  float x, tanh_u, exp_u;  // tanh(u), and exp(-2u)
  float by_tanh, by_exp;   // what the formulas come to
};

__global__ void compute(Sample* samples) {
  Sample& s = samples[threadIdx.x];
  s.by_tanh = 0.5f * s.x * (1.f + s.tanh_u);
  s.by_exp = s.x / (1.f + s.exp_u);
}

float inner(float x) {
  return static_cast<float>(0.7978845608028654 *
                            (x + 0.044715 * x * double(x) * x));
}

double exact(const Sample& s) { return s.x / (1 + std::exp(-2. * inner(s.x))); }

// A half keeps eleven binary digits, and nothing below 2^-24.
double half_rounding(double y) {
  return std::exp2(std::max(std::ilogb(y), -14) - 11) / std::fabs(y);
}

int main() {
  Sample* device;
  cudaMalloc(&device, kSamples * sizeof(Sample));
  printf("the largest error, as a part of the result, from x on\n");
  printf("       x   by tanh    by exp  rounding to half\n");
  for (float first = kFirst; first < kLast; first += 0.25f) {
    Sample samples[kSamples];
    for (int k = 0; k < kSamples; ++k) {
      const float x = first + (k + 0.5f) * 0.25f / kSamples, u = inner(x);
      samples[k] = {x, static_cast<float>(std::tanh(double(u))),
                    static_cast<float>(std::exp(-2. * u)), 0, 0};
    }
    cudaMemcpy(device, samples, sizeof samples, cudaMemcpyHostToDevice);
    compute<<<1, kSamples>>>(device);
    cudaMemcpy(samples, device, sizeof samples, cudaMemcpyDeviceToHost);

    double by_tanh = 0, by_exp = 0, rounding = 0;
    for (const Sample& s : samples) {
      const double y = exact(s);
      by_tanh = std::max(by_tanh, std::fabs((s.by_tanh - y) / y));
      by_exp = std::max(by_exp, std::fabs((s.by_exp - y) / y));
      rounding = std::max(rounding, half_rounding(y));
    }
    printf("%8.2f  %.2e  %.2e  %.2e\n", first, by_tanh, by_exp, rounding);
  }
  cudaFree(device);
  return 0;
}
