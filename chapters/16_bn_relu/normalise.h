// Chapter 16: what becomes of an element, once its channel is known.
#pragma once

#include "chapters/16_bn_relu/sums.h"

namespace batch_norm {

// What forward reads and writes of the elements.
template <class T>
struct Elements {
  const T *x, *addend;  // Or null, as the mask.
  T* y;                 // May be the addend.
  uint32_t* mask;
  bool relu;
};

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
__device__ inline float rectified(float v) { return v <= 0.f ? 0.f : v; }

// x - mean first: if the mean were part of b, large means would cancel.
__device__ inline float normalised(float x, const Channel& of) {
  return (x - of.mean) * of.scale + of.a;
}

// How a thread finds the channels of its packs. In rows a pack has one, as a
// rule; where a row ends in it, the next one is looked up.
template <class Find>
class InRows {
 public:
  __device__ InRows(const Task& task, Find find) : task_(task), find_(find) {}

  // Calls f with the number and the channel of each element from i on.
  template <int kPack, class F>
  __device__ void each(int64_t i, F f) const {
    Place place(task_, i);
    Channel of = find_(place.channel());
    if (place.left() >= kPack) {
#pragma unroll
      for (int k = 0; k < kPack; ++k) f(k, of);
      return;
    }
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      f(k, of);
      if (k + 1 < kPack && place.step()) of = find_(place.channel());
    }
  }

 private:
  const Task& task_;
  Find find_;
};

// The word of the mask that this lane's bits belong to. All lanes come.
template <int kPack>
__device__ uint32_t joined(uint32_t bits) {
  if (kPack == 1) return __ballot_sync(~0u, bits);
  constexpr int kLanes = 32 / kPack;
  uint32_t word = bits << (threadIdx.x % kLanes * kPack);
  for (int far = 1; far < kLanes; far *= 2)
    word |= __shfl_xor_sync(~0u, word, far);
  return word;
}

// A pack of x becomes one of y. Its bits of the mask.
template <class T, int kPack, class Channels>
__device__ uint32_t forward_pack(const Elements<T>& at,
                                 const Channels& channels, int64_t i,
                                 Pack<T, kPack> x,
                                 const Pack<T, kPack>& addend) {
  uint32_t bits = 0;
  channels.template each<kPack>(i, [&](int k, const Channel& of) {
    const float v = normalised(x[k], of) + addend[k];
    x.set(k, at.relu ? rectified(v) : v);
    bits |= uint32_t{x[k] > 0.f} << k;
  });
  store(at.y + i, x);
  return bits;
}

// kEach packs: the first one begins with element i, and the next where all
// lanes' packs before it end. All of them are asked for before the first
// channel is; x's end comes an element at a time. Whole warps come, with
// neighbouring packs, and store their words of the mask in one request.
template <int kPack, int kEach = 1, class T, class Channels>
__device__ void forward(const Task& task, const Elements<T>& at,
                        const Channels& channels, int64_t i) {
  constexpr int kLanes = 32 / kPack, kApart = 32 * kPack;  // A word's; packs.
  uint32_t bits[kEach] = {};
  if (i + (kEach - 1) * kApart + kPack <= task.n) {
    Pack<T, kPack> packs[kEach], addends[kEach] = {};
#pragma unroll
    for (int m = 0; m < kEach; ++m) {
      packs[m] = load<T, kPack>(at.x + i + m * kApart);
      if (at.addend) addends[m] = load<T, kPack>(at.addend + i + m * kApart);
    }
#pragma unroll
    for (int m = 0; m < kEach; ++m)
      bits[m] =
          forward_pack(at, channels, i + m * kApart, packs[m], addends[m]);
  } else {
#pragma unroll
    for (int m = 0; m < kEach; ++m)
#pragma unroll 1
      for (int k = 0; k < kPack; ++k) {
        const int64_t its = i + m * kApart + k;
        if (its >= task.n) break;
        Pack<T, 1> addend = {};
        if (at.addend) addend = load<T, 1>(at.addend + its);
        const auto x = load<T, 1>(at.x + its);
        bits[m] |= forward_pack(at, channels, its, x, addend) << k;
      }
  }
  if (!at.mask) return;
  const int its = threadIdx.x % kLanes;  // It stores the word of this pack.
  uint32_t word = 0;
#pragma unroll
  for (int m = 0; m < kEach; ++m) {
    const uint32_t whole = joined<kPack>(bits[m]);
    if (its == m) word = whole;
  }
  const int64_t first = i + its * (kApart - kPack);  // Of the word's elements.
  if (its < kEach && first < task.n) at.mask[first / 32] = word;
}

// What backward reads and writes of the elements.
template <class T>
struct ElementSlopes {
  Slopes<T> from;
  T *dx, *d_addend;  // Or null. d_addend may be dy.
};

template <int kPack, class T, class Channels>
__device__ void backward_pack(const ElementSlopes<T>& at,
                              const Channels& channels, int64_t i) {
  auto [dy, x] = Gradients<T, kPack>::fetch(at.from, i);
  channels.template each<kPack>(i, [&](int k, const Channel& of) {
    const float away = x[k] - of.mean;
    x.set(k, of.scale * (dy[k] - of.a - away * of.b));
  });
  store(at.dx + i, x);
  if (at.d_addend) store(at.d_addend + i, dy);
}

// The pack that begins with element i, or what there is of it.
template <int kPack, class T, class Channels>
__device__ void backward(const Task& task, const ElementSlopes<T>& at,
                         const Channels& channels, int64_t i) {
  if (i + kPack <= task.n) return backward_pack<kPack>(at, channels, i);
#pragma unroll 1
  for (; i < task.n; ++i) backward_pack<1>(at, channels, i);
}

// ---- The call ---------------------------------------------------------------

// Null without ReLU. With ReLU and without a mask, all gradients would pass.
template <class Word>
Word* mask_of(const BnRelu& what, Word* mask) {
  if (!what.relu || mask || shape_of(what).n() == 0)
    return what.relu ? mask : nullptr;
  std::fprintf(stderr, "bn_relu: with ReLU, the mask is a null pointer.\n");
  std::exit(EXIT_FAILURE);
}

// As the contract gives them, typed.
template <class T>
Statistics<T> statistics_of(const BnRelu& what, const BnReluForward& at) {
  return {static_cast<const T*>(at.x),
          what.epsilon,
          what.momentum,
          at.gamma,
          at.beta,
          at.running_mean,
          at.running_variance,
          at.mean,
          at.inverse_deviation};
}

template <class T>
Elements<T> elements_of(const BnRelu& what, const BnReluForward& at) {
  return {static_cast<const T*>(at.x), static_cast<const T*>(at.addend),
          static_cast<T*>(at.y), mask_of(what, at.mask), what.relu};
}

template <class T>
ElementSlopes<T> slopes_of(const BnRelu& what, const BnReluBackward& at) {
  return {{static_cast<const T*>(at.dy), mask_of(what, at.mask),
           static_cast<const T*>(at.x), at.gamma, at.mean, at.inverse_deviation,
           at.d_gamma, at.d_beta},
          static_cast<T*>(at.dx),
          static_cast<T*>(at.d_addend)};
}

template <class... Pointers>
Plan plan_of(const Shape& shape, Element element, Pointers... p) {
  return make_plan(shape, aligned_to(kSumPack * bytes_of(element), p...),
                   attribute(cudaDevAttrMultiProcessorCount));
}

// The same, but no blocks share a channel.
template <class... Pointers>
Plan alone(const Shape& shape, Element element, Pointers... p) {
  Plan plan = plan_of(shape, element, p...);
  plan.parts = 1;
  return plan;
}

__host__ __device__ inline int64_t tiles_of(int64_t n, int pack) {
  return (n + kBlock * pack - 1) / (kBlock * pack);
}

// The same with the running statistics, which no sum has to come before.
template <int kPack, class T>
__global__ void inference_kernel(const __grid_constant__ Task task,
                                 Elements<T> at, BnReluInference of,
                                 float epsilon) {
  const auto running = [&](int64_t c) -> Channel {
    const float inverse = inverse_deviation(of.running_variance[c], epsilon);
    return {of.running_mean[c], inverse * of.gamma[c], of.beta[c], 0.f};
  };
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  forward<kPack>(task, at, InRows(task, running), i * kPack);
}

inline void infer(const BnRelu& what, const BnReluInference& at,
                  cudaStream_t stream) {
  const Task task(shape_of(what));
  if (task.n == 0) return;
  with_type(what.element, [&](auto zero) {
    using T = decltype(zero);
    const Elements<T> ends = {static_cast<const T*>(at.x),
                              static_cast<const T*>(at.addend),
                              static_cast<T*>(at.y), nullptr, what.relu};
    const auto launch = [&](auto pack) {
      inference_kernel<pack.value>
          <<<tiles_of(task.n, pack.value), kBlock, 0, stream>>>(task, ends, at,
                                                                what.epsilon);
      CUDA_CHECK(cudaGetLastError());
    };
    with_pack<T>(aligned_to(16, at.x, at.addend, at.y), launch);
  });
}

}  // namespace batch_norm
