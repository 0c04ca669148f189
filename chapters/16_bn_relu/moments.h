// Chapter 16: what has to be known of each channel before the first of its
// elements can be normalised: forward its mean and variance, backward two sums.
#pragma once

#include "chapters/16_bn_relu/elements.h"

namespace batch_norm {

// What normalising needs of a channel: forward the mean, the scale and beta;
// backward the mean, the scale, and what is taken from g and, for each
// deviation, from dx.
struct alignas(16) Channel {
  float mean, scale, a, b;
};

__device__ inline float inverse_deviation(float variance, float epsilon) {
  return 1.f / sqrtf(variance + epsilon);
}

// Of `lanes` neighbouring lanes. All lanes of the warp come.
__device__ inline float sum_of_lanes(float v, int lanes) {
  for (int far = lanes / 2; far > 0; far /= 2)
    v += __shfl_xor_sync(~0u, v, far);
  return v;
}

// ---- Forward ----------------------------------------------------------------

// The sum of kCount numbers, pair by pair: equal ones come to it exactly.
template <int kCount>
__device__ float sum_of(float* v) {
#pragma unroll
  for (int apart = 1; apart < kCount; apart *= 2)
#pragma unroll
    for (int k = 0; k + apart < kCount; k += 2 * apart) v[k] += v[k + apart];
  return v[0];
}

// What forward reads and writes of the channels.
template <class T>
struct Statistics {
  const T* x;
  float epsilon, momentum;
  const float *gamma, *beta;
  float *running_mean, *running_variance, *mean, *inverse;
};

// Counts, means and sums of squares about these means, by Welford's method: of
// x - shift, where shift is any element, so that a large mean costs no digits.
template <class T, int kLoad>
struct Moments {
  using Ends = Statistics<T>;
  using Loaded = Pack<T, kLoad>;
  static constexpr int kPack = kLoad;
  static constexpr int kAtOnce = sizeof(Loaded) < 16 ? 8 : 4;  // Loads.

  float count, mean, squares;

  static __device__ Loaded fetch(const Ends& from, int64_t i) {
    return load<T, kPack>(from.x + i);
  }
  // Of one channel, whose first element is `first`.
  static __device__ float shift(const Ends& from, int64_t first, int64_t) {
    return to_float(from.x[first]);
  }

  template <int kLoads>
  __device__ void add(const Loaded (&x)[kLoads], float shift) {
    constexpr int kCount = kLoads * kPack;
    float v[kCount], sums[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      sums[k] = v[k] = x[k / kPack][k % kPack] - shift;
    const float center = sum_of<kCount>(sums) / kCount;
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      sums[k] = (v[k] - center) * (v[k] - center);
    join({kCount, center, sum_of<kCount>(sums)});
  }
  __device__ void join(const Moments& other) {
    if (other.count == 0) return;  // Else 0 / 0, where both have none.
    const float weight = other.count / (count + other.count);
    const float away = other.mean - mean;
    mean += away * weight;
    squares += other.squares + away * away * count * weight;
    count += other.count;
  }
  // Of some lanes', with `count` elements in all: the mean, by one division,
  // then the squares about it.
  template <int kOfLane>
  static __device__ Moments of_lanes(const Moments (&of)[kOfLane], int lanes,
                                     float count) {
    float sum = 0, squares = 0;
#pragma unroll
    for (const Moments& its : of) sum += its.count * its.mean;
    const float mean = sum_of_lanes(sum, lanes) / count;
#pragma unroll
    for (const Moments& its : of) {
      const float away = its.mean - mean;
      squares += its.squares + its.count * away * away;
    }
    return {count, mean, sum_of_lanes(squares, lanes)};
  }
  static __device__ Moments of(float count, float2 v) {
    return {count, v.x, v.y};
  }
  __device__ float2 without_count() const { return {mean, squares}; }

  // What the end needs of channel c, so that it can be asked for early.
  struct Known {
    float running_mean, running_variance, gamma, beta;
  };
  static __device__ Known known(const Ends& at, int64_t c) {
    return {at.running_mean[c], at.running_variance[c], at.gamma[c],
            at.beta[c]};
  }
  // Where blocks find the same, only one of them writes it.
  __device__ Channel finish(int64_t c, float shift, const Known& known,
                            const Ends& at, int64_t elements,
                            bool writes = true) const {
    const auto m = static_cast<float>(elements);
    const float center = shift + mean;
    const float variance = squares / fmaxf(m, 1);
    const float inverse = inverse_deviation(variance, at.epsilon);
    if (writes && elements > 0) {
      const float unbiased = squares / fmaxf(m - 1, 1);
      at.running_mean[c] =
          known.running_mean + at.momentum * (center - known.running_mean);
      at.running_variance[c] =
          known.running_variance +
          at.momentum * (unbiased - known.running_variance);
    }
    if (writes) {
      at.mean[c] = center;
      at.inverse[c] = inverse;
    }
    return {center, inverse * known.gamma, known.beta, 0.f};
  }
};

// ---- Backward ---------------------------------------------------------------

// What backward reads and writes of the channels.
template <class T>
struct Slopes {
  const T* dy;
  const uint32_t* mask;  // Or null.
  const T* x;
  const float *gamma, *mean, *inverse;
  float *d_gamma, *d_beta;
};

// A pack of dy, where y was more than 0, and of x.
template <class T, int kPack>
struct Factors {
  Pack<T, kPack> g, x;
};

// The mask selects: 0 times infinity would be NaN.
template <class T, int kPack>
__device__ Pack<T, kPack> selected(Pack<T, kPack> g, uint32_t bits) {
#pragma unroll
  for (int k = 0; k < kPack; ++k)
    if (!(bits >> k & 1)) g.clear(k);
  return g;
}

// The sums of g, and of g times the deviation from the mean.
template <class T, int kLoad>
struct Gradients {
  using Ends = Slopes<T>;
  static constexpr int kPack = kLoad;
  static constexpr int kAtOnce = 4;  // Loads, of each of both arrays.
  using Loaded = Factors<T, kPack>;

  float g, g_away;

  static __device__ Loaded fetch(const Ends& from, int64_t i) {
    const uint32_t bits = from.mask ? from.mask[i / 32] >> (i % 32) : ~0u;
    return {selected(load<T, kPack>(from.dy + i), bits),
            load<T, kPack>(from.x + i)};
  }
  static __device__ float shift(const Ends& from, int64_t, int64_t channel) {
    return from.mean[channel];
  }

  template <int kLoads>
  __device__ void add(const Loaded (&at)[kLoads], float mean) {
#pragma unroll
    for (int k = 0; k < kLoads * kPack; ++k) {
      const Loaded& mine = at[k / kPack];
      const int e = k % kPack;
      g += mine.g[e];
      g_away += mine.g[e] * (mine.x[e] - mean);
    }
  }
  __device__ void join(const Gradients& other) {
    g += other.g;
    g_away += other.g_away;
  }
  template <int kOfLane>
  static __device__ Gradients of_lanes(const Gradients (&of)[kOfLane],
                                       int lanes, float) {
    Gradients all = {};
#pragma unroll
    for (const Gradients& its : of) all.join(its);
    return {sum_of_lanes(all.g, lanes), sum_of_lanes(all.g_away, lanes)};
  }
  static __device__ Gradients of(float, float2 v) { return {v.x, v.y}; }
  __device__ float2 without_count() const { return {g, g_away}; }
  struct Known {
    float inverse, gamma;
  };
  static __device__ Known known(const Ends& at, int64_t c) {
    return {at.inverse[c], at.gamma[c]};
  }
  __device__ Channel finish(int64_t c, float mean, const Known& known,
                            const Ends& at, int64_t elements,
                            bool writes = true) const {
    const float m = fmaxf(static_cast<float>(elements), 1);
    if (writes) {
      at.d_beta[c] = g;
      at.d_gamma[c] = g_away * known.inverse;
    }
    return {mean, known.inverse * known.gamma, g / m,
            g_away * known.inverse * known.inverse / m};
  }
};

}  // namespace batch_norm
