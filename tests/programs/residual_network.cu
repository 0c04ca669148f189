// A small residual network learns, forward and backward through chapter 16's
// kernels; its first gradients are compared with float64's.
//
//   h = ReLU(BatchNorm(a x)),  y = ReLU(BatchNorm(b h) + x)
//
// a and b mix the channels of each pixel. The loss is the mean squared distance
// between y and what another such network makes of x.
//
//   make program STD=c++20 SRC=tests/programs/residual_network.cu && ./run
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "chapters/16_bn_relu/bn_relu.cu"
#include "common/harness/device_array.h"
#include "common/relu_mask.h"

namespace {

constexpr int kImages = 8, kChannels = 8, kPixels = 32, kSteps = 60;
constexpr int kElements = kImages * kChannels * kPixels;
constexpr int kWeights = kChannels * kChannels;
constexpr int kThreads = 64;
constexpr float kEpsilon = 1e-5f, kRate = 0.5f;

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Array = DeviceArray<float>;

int blocks(int n) { return (n + kThreads - 1) / kThreads; }

// ---- On the GPU -------------------------------------------------------------

// Each pixel's channels times w, or times w transposed.
__global__ void mix_kernel(const float* w, const float* x, float* y,
                           bool transposed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = i / kPixels % kChannels;
  const int first = i - channel * kPixels;
  float sum = 0;
  for (int c = 0; c < kChannels; ++c)
    sum += w[transposed ? c * kChannels + channel : channel * kChannels + c] *
           x[first + c * kPixels];
  y[i] = sum;
}

__global__ void weights_slope_kernel(const float* dy, const float* x,
                                     float* dw) {
  const int out = threadIdx.x / kChannels, in = threadIdx.x % kChannels;
  float sum = 0;
  for (int k = 0; k < kImages * kPixels; ++k) {
    const int first = k / kPixels * kChannels * kPixels + k % kPixels;
    sum += dy[first + out * kPixels] * x[first + in * kPixels];
  }
  dw[threadIdx.x] = sum;
}

__global__ void loss_slope_kernel(const float* y, const float* wanted,
                                  float* dy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  dy[i] = 2 * (y[i] - wanted[i]) / kElements;
}

__global__ void learn_kernel(float* value, const float* slope, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) value[i] -= kRate * slope[i];
}

// A value that is learned, and its gradient.
struct Learned {
  Array value, slope;

  explicit Learned(const Floats& v) : value(v), slope(std::ssize(v)) {}
  void learn() {
    const int n = static_cast<int>(value.size());
    learn_kernel<<<blocks(n), kThreads>>>(value.data(), slope.data(), n);
  }
};

struct Layer {
  Learned weights, gamma{Floats(kChannels, 1)}, beta{Floats(kChannels)};
  Array mixed{kElements}, d_mixed{kElements}, out{kElements};
  Array running_mean{Floats(kChannels)}, running_variance{Floats(kChannels, 1)};
  Array mean{kChannels}, inverse{kChannels}, scratch;
  DeviceArray<uint32_t> mask{mask_words(kElements)};

  static BnRelu what() {
    return {kImages,         kChannels, 1,        kPixels, false,
            Element::kFloat, true,      kEpsilon, 0.1f};
  }
  explicit Layer(const Floats& w)
      : weights(w), scratch(Floats(bn_relu_scratch_floats(what()))) {}

  void forward(const float* x, const float* addend) {
    mix_kernel<<<kElements / kThreads, kThreads>>>(weights.value.data(), x,
                                                   mixed.data(), false);
    bn_relu(what(),
            {mixed.data(), addend, gamma.value.data(), beta.value.data(),
             running_mean.data(), running_variance.data(), mean.data(),
             inverse.data(), out.data(), mask.data()},
            scratch.data(), nullptr);
  }
  // dx may be null: nobody learns from the first layer's.
  void backward(const float* dy, const float* x, float* dx) {
    bn_relu_backward(what(),
                     {dy, mask.data(), mixed.data(), gamma.value.data(),
                      mean.data(), inverse.data(), d_mixed.data(), nullptr,
                      gamma.slope.data(), beta.slope.data()},
                     scratch.data(), nullptr);
    weights_slope_kernel<<<1, kWeights>>>(d_mixed.data(), x,
                                          weights.slope.data());
    if (dx)
      mix_kernel<<<kElements / kThreads, kThreads>>>(weights.value.data(),
                                                     d_mixed.data(), dx, true);
  }
};

// ---- The same in float64 ----------------------------------------------------

int channel_of(int i) { return i / kPixels % kChannels; }
int of_channel(int i, int c) { return i + (c - channel_of(i)) * kPixels; }

struct Layer64 {
  Doubles w, mixed, normal, out, inverse;
  Doubles d_w, d_gamma, d_beta;

  explicit Layer64(const Floats& of) : w(of.begin(), of.end()) {}

  void forward(const Doubles& x, const Doubles* addend) {
    mixed.assign(kElements, 0);
    for (int i = 0; i < kElements; ++i)
      for (int c = 0; c < kChannels; ++c)
        mixed[i] += w[channel_of(i) * kChannels + c] * x[of_channel(i, c)];
    Doubles mean(kChannels), variance(kChannels);
    constexpr double m = kImages * kPixels;
    for (int i = 0; i < kElements; ++i) mean[channel_of(i)] += mixed[i] / m;
    for (int i = 0; i < kElements; ++i)
      variance[channel_of(i)] +=
          std::pow(mixed[i] - mean[channel_of(i)], 2) / m;
    inverse.clear();
    for (const double v : variance)
      inverse.push_back(1 / std::sqrt(v + double{kEpsilon}));
    normal = out = mixed;
    for (int i = 0; i < kElements; ++i) {
      normal[i] = (mixed[i] - mean[channel_of(i)]) * inverse[channel_of(i)];
      out[i] = std::max(0., normal[i] + (addend ? (*addend)[i] : 0));
    }
  }
  // gamma is 1 and beta 0, as at the first step.
  Doubles backward(const Doubles& dy, const Doubles& x) {
    d_w.assign(kWeights, 0), d_gamma.assign(kChannels, 0), d_beta = d_gamma;
    const auto g = [&](int i) { return out[i] > 0 ? dy[i] : 0; };
    for (int i = 0; i < kElements; ++i) {
      d_beta[channel_of(i)] += g(i);
      d_gamma[channel_of(i)] += g(i) * normal[i];
    }
    Doubles dx(kElements);
    for (int i = 0; i < kElements; ++i) {
      const int o = channel_of(i);
      const double away = d_beta[o] + normal[i] * d_gamma[o];
      const double slope = inverse[o] * (g(i) - away / (kImages * kPixels));
      for (int c = 0; c < kChannels; ++c) {
        d_w[o * kChannels + c] += slope * x[of_channel(i, c)];
        dx[of_channel(i, c)] += slope * w[o * kChannels + c];
      }
    }
    return dx;
  }
};

// ---- Training ---------------------------------------------------------------

Floats random(int n, float scale) {
  static std::mt19937 bits(2026);
  Floats values(n);
  for (float& v : values)
    v = scale * (static_cast<float>(bits()) * 0x1p-31f - 1.f);
  return values;
}

double loss(const Floats& y, const Floats& wanted) {
  double sum = 0;
  for (int i = 0; i < kElements; ++i) sum += std::pow(y[i] - wanted[i], 2);
  return sum / kElements;
}

// How far the gradients are off, beside the greatest of them.
double off(const Array& got, const Doubles& expected) {
  const Floats slopes = got.to_host();
  double worst = 0, most = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::fabs(slopes[i] - expected[i]));
    most = std::max(most, std::fabs(expected[i]));
  }
  return worst / most;
}

double off(const Layer& layer, const Layer64& exact) {
  return std::max({off(layer.weights.slope, exact.d_w),
                   off(layer.gamma.slope, exact.d_gamma),
                   off(layer.beta.slope, exact.d_beta)});
}

struct Network {
  Layer first, second;
  Array dy{kElements}, dh{kElements};

  void forward(const Array& x) {
    first.forward(x.data(), nullptr);
    second.forward(first.out.data(), x.data());
  }
  void backward(const Array& x, const Array& wanted) {
    loss_slope_kernel<<<kElements / kThreads, kThreads>>>(
        second.out.data(), wanted.data(), dy.data());
    second.backward(dy.data(), first.out.data(), dh.data());
    first.backward(dh.data(), x.data(), nullptr);
  }
  void learn() {
    for (Layer* layer : {&first, &second})
      for (Learned* one : {&layer->weights, &layer->gamma, &layer->beta})
        one->learn();
  }
};

}  // namespace

int main() {
  const Floats x = random(kElements, 1), a = random(kWeights, 1),
               b = random(kWeights, 1);
  Network teacher{Layer(random(kWeights, 1)), Layer(random(kWeights, 1))};
  Network network{Layer(a), Layer(b)};
  const Array device_x(x);
  teacher.forward(device_x);
  const Floats wanted = teacher.second.out.to_host();

  Layer64 first(a), second(b);
  const Doubles exact_x(x.begin(), x.end());
  first.forward(exact_x, nullptr);
  second.forward(first.out, &exact_x);
  Doubles dy(kElements);
  for (int i = 0; i < kElements; ++i)
    dy[i] = 2 * (second.out[i] - wanted[i]) / kElements;
  first.backward(second.backward(dy, first.out), exact_x);

  double before = 0, after = 0, worst = 0;
  for (int step = 0; step <= kSteps; ++step) {
    network.forward(device_x);
    after = loss(network.second.out.to_host(), wanted);
    if (step == 0) before = after;
    network.backward(device_x, teacher.second.out);
    if (step == 0)
      worst = std::max(off(network.first, first), off(network.second, second));
    network.learn();
  }
  CUDA_CHECK(cudaDeviceSynchronize());

  const bool exact = worst < 1e-4, learned = after < 0.5 * before;
  std::printf("gradients beside float64's: %s\n",
              exact ? "less than 1 / 10,000 off" : "wrong");
  std::printf("after %d steps the loss is %s\n", kSteps,
              learned ? "less than half of what it was" : "hardly less");
  if (!exact || !learned)
    std::printf("off by %g, loss %g to %g\n", worst, before, after);
  return exact && learned ? EXIT_SUCCESS : EXIT_FAILURE;
}
