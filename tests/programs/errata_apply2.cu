// Does an operation know a way to do two at once? Asked by name, as OneFlow's
// HasApply2 asks, and asked by a call. Each functor below knows one; what it
// leaves behind tells which of its functions was taken.
#include <cuda_fp16.h>

#include <cstdio>

const float kOneByOne = 1, kInPairs = 2;

struct Single {
  __device__ __half operator()(__half) const { return __float2half(kOneByOne); }
};
struct Plain : Single {
  __device__ void Apply2(__half2* y, const __half2*) const {
    *y = __float2half2_rn(kInPairs);
  }
};
struct Overloaded : Plain {
  using Plain::Apply2;
  __device__ void Apply2(float2* y, const float2* x) const { *y = *x; }
};
struct Template : Single {
  template <class Pair>
  __device__ void Apply2(Pair* y, const Pair*) const {
    *y = __float2half2_rn(kInPairs);
  }
};

// &F::Apply2 has a type only if there is exactly one function of that name.
template <class F>
constexpr bool kNamed = requires {
  sizeof(decltype(&F::Apply2));
};

// What the kernel needs to know is whether its call would compile.
template <class F>
constexpr bool kCallable = requires(F f, __half2* y, const __half2* x) {
  f.Apply2(y, x);
};

template <class F, bool kPairs>
__global__ void apply_kernel(__half2* x) {
  if constexpr (kPairs) {
    F{}.Apply2(x, x);
  } else {
    *x = __halves2half2(F{}(x->x), F{}(x->y));
  }
}

template <class F, bool kPairs>
bool in_pairs() {
  __half2 *x, y;
  cudaMalloc(&x, sizeof y);
  cudaMemset(x, 0, sizeof y);
  apply_kernel<F, kPairs><<<1, 1>>>(x);
  cudaMemcpy(&y, x, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return __low2float(y) == kInPairs;
}

template <class F>
bool print(const char* kind) {
  const char* way[] = {"one by one", "in pairs"};
  const bool by_call = in_pairs<F, kCallable<F>>();
  printf("%-10s  by name: %-10s  by a call: %s\n", kind,
         way[in_pairs<F, kNamed<F>>()], way[by_call]);
  return by_call;
}

int main() {
  const bool plain = print<Plain>("plain");
  const bool overloaded = print<Overloaded>("overloaded");
  return !(print<Template>("template") && plain && overloaded);
}
