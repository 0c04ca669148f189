// Chapter 16: the layers of a framework, each in a kernel of its own.
#pragma once

#include "chapters/16_bn_relu/normalise.h"

namespace batch_norm {

__device__ inline int64_t my_element() {
  return int64_t{blockIdx.x} * kBlock + threadIdx.x;
}

template <class T>
__global__ void normalise_kernel(const __grid_constant__ Task task, const T* x,
                                 const Channel* channels, T* z) {
  const int64_t i = my_element();
  if (i >= task.n) return;
  const Channel of = channels[Place(task, i).channel()];
  z[i] = rounded<T>(normalised(to_float(x[i]), of));
}

template <class T>
__global__ void add_kernel(const T* z, const T* addend, T* y, int64_t n) {
  const int64_t i = my_element();
  if (i < n) y[i] = rounded<T>(to_float(z[i]) + to_float(addend[i]));
}

template <class T>
__global__ void relu_kernel(T* y, uint32_t* mask, int64_t n) {
  const int64_t i = my_element();
  const float v = i < n ? rectified(to_float(y[i])) : 0.f;
  const uint32_t votes = __ballot_sync(~0u, v > 0.f);
  if (i >= n) return;
  y[i] = rounded<T>(v);
  if (i % 32 == 0) mask[i / 32] = votes;
}

template <class T>
__global__ void select_kernel(const T* dy, const uint32_t* mask, T* g,
                              int64_t n) {
  const int64_t i = my_element();
  if (i >= n) return;
  const T v = dy[i];
  const bool bit = !mask || mask[i / 32] >> (i % 32) & 1;
  g[i] = bit ? v : rounded<T>(0.f);
}

template <class T>
__global__ void slope_kernel(const __grid_constant__ Task task, const T* g,
                             const T* x, const Channel* channels, T* dx) {
  const int64_t i = my_element();
  if (i >= task.n) return;
  const Channel of = channels[Place(task, i).channel()];
  const float away = to_float(x[i]) - of.mean;
  dx[i] = rounded<T>(of.scale * (to_float(g[i]) - of.a - away * of.b));
}

}  // namespace batch_norm
