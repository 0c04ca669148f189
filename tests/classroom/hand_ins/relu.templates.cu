// Right: the pack's length and what is done to a number are parameters of
// templates.
#include "common/check.h"
#include "common/relu.h"

template <class T, int kLength>
struct alignas(sizeof(T) * kLength) Pack {
  T v[kLength];
};

struct Rectify {
  template <class T>
  __device__ T operator()(T v) const {
    return v <= T(0) ? T(0) : v;
  }
};

template <int kLength, class T, class Change>
__global__ void change_kernel(const T* x, T* y, int64_t n, Change change) {
  using P = Pack<T, kLength>;
  const int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if ((k + 1) * kLength <= n) {
    P pack = reinterpret_cast<const P*>(x)[k];
    for (T& v : pack.v) v = change(v);
    reinterpret_cast<P*>(y)[k] = pack;
  } else {
    for (int64_t i = k * kLength; i < n; ++i) y[i] = change(x[i]);
  }
}

template <int kLength, class T, class Change>
void change(const T* x, T* y, int64_t n, Change how, cudaStream_t stream) {
  const int64_t threads = (n + kLength - 1) / kLength;
  change_kernel<kLength>
      <<<(threads + 255) / 256, 256, 0, stream>>>(x, y, n, how);
  CUDA_CHECK(cudaGetLastError());
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  const bool aligned = (uint64_t(x) | uint64_t(y)) % 16 == 0;
  aligned ? change<4>(x, y, n, Rectify(), stream)
          : change<1>(x, y, n, Rectify(), stream);
}
