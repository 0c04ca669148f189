// A product and the sum that it goes into: ptxas fuses them where PTX leaves it
// open, and so must whoever wants a GPU's bits. Operands are such that it
// shows.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "tests/simt/expect.h"

namespace {

// Their product needs twice the bits, and its upper half is one.
template <class T>
struct Numbers {
  T a, b;
};
template <class T>
__host__ __device__ Numbers<T> numbers() {
  const T step = sizeof(T) == 8 ? T(0x1p-30) : T(0x1p-13);
  return {1 + step, 1 - step};
}

// Each has operands of its own: a product that two want is not fused.
template <class T>
__global__ void sums_kernel(T* out, const volatile T* x) {
  const auto a = [&] { return x[0]; };
  const auto b = [&] { return x[1]; };
  const auto one = [&] { return x[2]; };
  out[0] = a() * b() + one();  // by nvcc
  out[1] = a() * b() - one();  // the others by ptxas, or not
  out[2] = one() - a() * b();
  out[3] = a() * b() - b() * one();  // the first
  const T wanted = a() * b();
  out[4] = wanted - one();
  out[5] = wanted;
}

// Loops that ptxas writes out, products behind a minus sign, and both.
template <class T>
__global__ void loops_kernel(T* out, const volatile T* x, int turns) {
  T sum = x[2];
#pragma unroll 1
  for (int k = 0; k < turns; ++k) sum -= x[0] * x[1];
  out[0] = sum;
  const T a = x[0], b = x[1], c = x[3], d = x[4];
  out[1] = -(a * b) - c * d;
  T rest = x[2];
#pragma unroll 1
  for (int k = 0; k < turns; ++k) rest = -(x[0] * x[1]) - rest * x[1];
  out[2] = rest;
}

// A product that three sums want, of which the second has one of its own: that
// one is fused, and so the other is with none.
template <class T>
__global__ void shared_kernel(T* out, const volatile T* x) {
  const T a = x[0], b = x[1], one = x[2], c = x[3], d = x[4];
  const T wanted = a * b;
  out[0] = wanted - one;
  out[1] = c * d - wanted;
  out[2] = one - wanted;
}

template <class T>
void check_shared() {
  const auto [a, b] = numbers<T>();
  const T c = a + T(0.5), d = b - T(0.25), product = a * b;
  const expect::Copy<T> x({a, b, 1, c, d});
  const auto got = expect::results<T>(
      3, [&](T* out) { shared_kernel<T><<<1, 1>>>(out, x); });
  expect::equal(got[0], product - 1);
  expect::equal(got[1], std::fma(c, d, -product));
  expect::equal(got[2], 1 - product);
}

template <class T>
void check_loops() {
  const auto [a, b] = numbers<T>();
  const T c = a + T(0.5), d = b - T(0.25);
  const expect::Copy<T> x({a, b, 1, c, d});
  for (const int turns : {1, 2, 3, 4, 7, 30}) {
    const auto got = expect::results<T>(
        3, [&](T* out) { loops_kernel<T><<<1, 1>>>(out, x, turns); });
    T sum = 1, rest = 1;
    for (int k = 0; k < turns; ++k) {
      sum = std::fma(-a, b, sum);
      rest = std::fma(-a, b, -(rest * b));
    }
    expect::equal(got[0], sum);
    expect::equal(got[1], std::fma(-a, b, -(c * d)));
    expect::equal(got[2], rest);
  }
}

template <class T>
void check_sums() {
  const auto [a, b] = numbers<T>();
  const expect::Copy<T> x({a, b, 1});
  const auto got =
      expect::results<T>(6, [&](T* out) { sums_kernel<T><<<1, 1>>>(out, x); });
  const T exact = std::fma(a, b, T(-1));
  expect::equal(got[0], std::fma(a, b, T(1)));
  expect::equal(got[1], exact);
  expect::equal(got[2], -exact);
  expect::equal(got[3], std::fma(a, b, -b));
  expect::equal(got[4], T(a * b) - T(1));
  expect::equal(got[5], T(a * b));
}

constexpr float kFactor = 1 - 0x1p-13f;

// As written in PTX: which of them may be fused, and which are.
__global__ void written_kernel(float* out, const volatile float* x, int turns) {
  const float a = x[0], b = x[1], one = x[2];
  const auto keep = [&](int k, float value) { out[k] = value; };
  float r;
#define WRITTEN(k, text)                    \
  asm volatile("{.reg .f32 t, u; " text "}" \
               : "=f"(r)                    \
               : "f"(a), "f"(b), "f"(one)); \
  keep(k, r)
  WRITTEN(0, "mul.f32 t, %1, %2; sub.f32 %0, t, %3;");
  WRITTEN(1, "mul.rn.f32 t, %1, %2; sub.f32 %0, t, %3;");
  WRITTEN(2, "mul.f32 t, %1, %2; sub.rn.f32 %0, t, %3;");
  WRITTEN(3, "mul.f32 t, %1, %2; sub.f32 %0, %3, t;");
  WRITTEN(4, "mul.f32 t, %1, %2; mul.f32 u, %2, %3; sub.f32 %0, t, u;");
  WRITTEN(5, "mul.f32 t, %1, %2; mul.f32 u, %1, %2; sub.f32 %0, t, u;");
  WRITTEN(6, "mul.f32 t, %1, %2; sub.f32 %0, t, t;");
  WRITTEN(7, "mul.ftz.f32 t, %1, %2; sub.f32 %0, t, %3;");
  WRITTEN(8, "mul.ftz.f32 t, %1, %2; sub.ftz.f32 %0, t, %3;");
  WRITTEN(9, "mul.sat.f32 t, %1, %2; sub.f32 %0, t, %3;");
  WRITTEN(10, "mul.f32 t, %1, %2; sub.sat.f32 %0, %3, t;");
  WRITTEN(11, "mul.f32 t, %1, %2; mul.f32 u, %3, %3; sub.f32 %0, u, t;");
#undef WRITTEN
  // A branch between them, which would have to keep two factors; or one.
  const float before = x[0] * x[1], by_number = x[0] * kFactor;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < turns; ++k) sum += x[2 + k];
  keep(12, before - sum);
  keep(13, by_number - sum);
  // One that becomes a predicate is one, too.
  float product, multiple;
  asm volatile("mul.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  asm volatile("mul.f32 %0, %1, %2;" : "=f"(multiple) : "f"(a), "f"(kFactor));
  if (turns > 0) keep(16, one);
  keep(14, product - one);
  keep(15, multiple - one);
}

void check_written() {
  const auto [a, b] = numbers<float>();
  const expect::Copy<float> x({a, b, 1});
  const auto got = expect::results<float>(
      17, [&](float* out) { written_kernel<<<1, 1>>>(out, x, 1); });
  const float exact = std::fma(a, b, -1.f), rounded = a * b;
  const float expected[] = {exact,
                            rounded - 1,
                            rounded - 1,
                            -exact,
                            std::fma(a, b, -b),
                            std::fma(a, b, -rounded),
                            0,
                            rounded - 1,
                            exact,
                            rounded - 1,
                            -exact,
                            std::fma(1.f, 1.f, -rounded),
                            rounded - 1,
                            exact,
                            rounded - 1,
                            exact,
                            1};
  for (int k = 0; k < 17; ++k) expect::equal(got[k], expected[k]);
}

template <class T>
__global__ void halves_kernel(T* out, const T* x) {
  const T a = x[0], b = x[1], one = x[2];
  out[0] = __hsub(__hmul(a, b), one);
  out[1] = __hsub(one, __hmul(a, b));
  out[2] = __hsub_rn(__hmul_rn(a, b), one);
  out[3] = __hadd(__hmul(a, b), __hmul(b, b));
}

// Products that several want: fused if all of them are sums.
template <class T>
__global__ void several_kernel(T* out, const volatile T* x) {
  const auto a = [&] { return x[0]; };
  const auto b = [&] { return x[1]; };
  const auto one = [&] { return x[2]; };
  const T both = a() * b();
  out[0] = both - one();
  out[1] = one() - both;
  const T kept = a() * b();
  out[2] = kept - one();
  out[3] = kept;
  const T first = a() * b(), second = one() * one();
  out[4] = first - second;
  out[5] = first + second;
  const T third = one() * one(), fourth = a() * b();
  out[6] = third - fourth;
  out[7] = fourth + third;
  const T alone = one() * one(), often = a() * b();
  out[8] = often - alone;
  out[9] = often - one();
}

template <class T>
void check_several() {
  const auto [a, b] = numbers<T>();
  const expect::Copy<T> x({a, b, 1});
  const auto got = expect::results<T>(
      10, [&](T* out) { several_kernel<T><<<1, 1>>>(out, x); });
  const T exact = std::fma(a, b, T(-1));
  expect::equal(got[0], exact);
  expect::equal(got[1], -exact);
  expect::equal(got[2], T(0));
  expect::equal(got[3], T(1));
  expect::equal(got[4], exact);
  expect::equal(got[5], T(2));
  expect::equal(got[6], T(0));
  expect::equal(got[7], T(2));
  expect::equal(got[8], T(0));
  expect::equal(got[9], T(0));
}

// The product that goes into the fewest sums comes first, if none of them is
// another's by then; so one may be fused with the first of its sums alone.
template <class T>
__global__ void order_kernel(T* out, const volatile T* x) {
  const T one = x[2];
  const T many = x[0] * x[1], few = x[3] * x[4];
  out[0] = many - one;
  out[1] = few + many;
  out[2] = few - many;
  const T often = x[0] * x[1], rarely = x[3] * x[4];
  out[3] = often - rarely;
  out[4] = rarely + often;
  out[5] = one - often;
  const T root = x[0];
  out[6] = std::abs(root * root) - one;
}

template <class T>
void check_order() {
  const auto [a, b] = numbers<T>();
  const T c = a + T(0.5), d = b - T(0.25), product = a * b;
  const expect::Copy<T> x({a, b, 1, c, d});
  const auto got =
      expect::results<T>(7, [&](T* out) { order_kernel<T><<<1, 1>>>(out, x); });
  expect::equal(got[0], std::fma(a, b, T(-1)));
  expect::equal(got[1], std::fma(c, d, product));
  expect::equal(got[2], std::fma(c, d, -product));
  expect::equal(got[3], std::fma(-c, d, product));
  expect::equal(got[4], std::fma(c, d, product));
  expect::equal(got[5], 1 - product);
  expect::equal(got[6], sizeof(T) == 4 ? std::fma(a, a, T(-1)) : a * a - 1);
}

// Sums on both sides of a branch, even of one that the machine does not have.
template <class T>
__global__ void sides_kernel(T* out, const volatile T* x, T factor) {
  const T a = x[0], product = a * x[1], by_parameter = x[0] * factor;
  T sum, other;
  if (threadIdx.x == 0) {
    sum = product - x[2];
    other = by_parameter - x[2];
  } else {
    sum = x[2] - product;
    other = x[2] - by_parameter;
  }
  out[4 * threadIdx.x] = sum;
  out[4 * threadIdx.x + 1] = other;
  out[4 * threadIdx.x + 2] = a;
}

template <class T>
void check_sides() {
  const auto [a, b] = numbers<T>();
  const expect::Copy<T> x({a, b, 1});
  const auto got = expect::results<T>(
      8, [&](T* out) { sides_kernel<T><<<1, 2>>>(out, x, b); });
  const T exact = std::fma(a, b, T(-1));
  expect::equal(got[0], a * b - 1);
  expect::equal(got[1], exact);
  expect::equal(got[4], 1 - a * b);
  expect::equal(got[5], -exact);
}

// Of pairs, the first sum that wants a product gets it; of single halves, one
// whose product goes nowhere else.
template <class T>
__global__ void halves_order_kernel(T* out, const T* x) {
  const T both = x[0] * x[1];
  out[0] = both - x[2];
  out[1] = x[3] * x[4] - both;
}

template <class T2, class T>
__global__ void pairs_kernel(T2* out, const T* x) {
  const T2 a{x[0], x[1]}, b{x[1], x[0]}, one{x[2], x[2]};
  out[0] = __hsub2(__hmul2(a, b), one);
  out[1] = __hsub2_rn(__hmul2_rn(a, b), one);
}

// `step`: 1 + step has no bit to spare.
template <class T2, class T>
void check_halves(float step) {
  const float a = 1 + step, b = 1 - step;
  const expect::Copy<T> x({T(a), T(b), T(1.f), T(a), T(b)});
  const float exact = -step * step;
  const auto rounded = [](float value) { return float(T(value)); };
  const auto got = expect::results<T>(
      4, [&](T* out) { halves_kernel<T><<<1, 1>>>(out, x); });
  expect::equal(float(got[0]), exact);
  expect::equal(float(got[1]), -exact);
  expect::equal(float(got[2]), rounded(a * b) - 1);
  expect::equal(float(got[3]), rounded(a * b + rounded(b * b)));
  const auto pairs = expect::results<T2>(
      2, [&](T2* out) { pairs_kernel<T2, T><<<1, 1>>>(out, x); });
  expect::equal(float(pairs[0].x), exact);
  expect::equal(float(pairs[0].y), exact);
  expect::equal(float(pairs[1].x), rounded(a * b) - 1);
  const auto single = expect::results<T>(
      2, [&](T* out) { halves_order_kernel<T><<<1, 1>>>(out, x); });
  const T2 pair_of[] = {T2(T(a), T(a)), T2(T(b), T(b)), T2(T(1.f), T(1.f)),
                        T2(T(a), T(a)), T2(T(b), T(b))};
  const expect::Copy<T2> y(
      {pair_of[0], pair_of[1], pair_of[2], pair_of[3], pair_of[4]});
  const auto both = expect::results<T2>(
      2, [&](T2* out) { halves_order_kernel<T2><<<1, 1>>>(out, y); });
  expect::equal(float(single[0]), rounded(a * b) - 1);
  expect::equal(float(both[0].x), exact);
  expect::equal(float(single[1]), exact);
  expect::equal(float(both[1].y), exact);
}

}  // namespace

int main() {
  check_sums<float>();
  check_loops<float>();
  check_loops<double>();
  check_shared<float>();
  check_shared<double>();
  check_sums<double>();
  check_several<float>();
  check_several<double>();
  check_order<float>();
  check_order<double>();
  check_sides<float>();
  check_sides<double>();
  check_written();
  check_halves<__half2, __half>(0x1p-10f);
  check_halves<__nv_bfloat162, __nv_bfloat16>(0x1p-7f);
  return expect::report();
}
