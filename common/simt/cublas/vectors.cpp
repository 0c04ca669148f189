// What cuBLAS does with vectors (its level 1).
#include <cmath>
#include <functional>

#include "common/simt/cublas/handle.h"

namespace simt::cublas {
namespace {

// Sums are made in a wider type, so that they lose nothing and no square
// overflows.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

template <class T>
struct Given {
  const char* name;
  T* at;
  int64_t step;
};

template <class T>
Vector<const T> read(const Operands& all, int64_t n, const Given<const T>& x) {
  return {all.read(x.name, x.at, shape_of_vector(n, x.step)), n, x.step};
}
template <class T>
Vector<T> change(const Operands& all, int64_t n, const Given<T>& x) {
  return {all.change(x.name, x.at, shape_of_vector(n, x.step)), n, x.step};
}
template <class T>
Vector<T> write(const Operands& all, int64_t n, const Given<T>& x) {
  return {all.write(x.name, x.at, shape_of_vector(n, x.step)), n, x.step};
}

// Gives the host or the device one number that is computed of vectors.
template <class T>
cublasStatus_t reduce(const char* call, cublasHandle_t handle, T* result,
                      const std::function<T(const Operands&)>& compute,
                      cublasStatus_t no_result = CUBLAS_STATUS_INVALID_VALUE) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_status(result != nullptr, no_result, "result is null");
        if (context.pointers == CUBLAS_POINTER_MODE_HOST)
          return compute_now(
              call, context.device, context.stream,
              [&](const Operands& all) { *result = compute(all); });
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          *all.write("result", result, {}) = compute(all);
        });
      },
      call);
}

// Changes vectors, unless they are empty.
void change_vectors(const char* call, const cublasContext& context, int n,
                    const Compute& compute) {
  if (n > 0) enqueue(call, context.device, context.stream, compute);
}

template <class T>
T dot(const Operands& all, int64_t n, const Given<const T>& given_x,
      const Given<const T>& given_y) {
  const auto x = read(all, n, given_x), y = read(all, n, given_y);
  Wide<T> sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Wide<T>(x[i]) * y[i];
  return static_cast<T>(sum);
}

template <class T>
T norm(const Operands& all, int64_t n, const Given<const T>& given) {
  if (n <= 0 || given.step <= 0) return 0;
  const auto x = read(all, n, given);
  Wide<T> sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isinf(x[i])) return std::abs(x[i]);  // Even beside a NaN.
    sum += Wide<T>(x[i]) * x[i];
  }
  return static_cast<T>(std::sqrt(sum));
}

template <class T>
T sum_of_magnitudes(const Operands& all, int64_t n,
                    const Given<const T>& given) {
  if (n <= 0 || given.step <= 0) return 0;
  const auto x = read(all, n, given);
  Wide<T> sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::abs(x[i]);
  return static_cast<T>(sum);
}

// Counted from 1; of several, the first; 0 if there is none. A NaN is none.
template <class T, class Better>
int extreme(const Operands& all, int64_t n, const Given<const T>& given,
            Better better) {
  if (n <= 0 || given.step <= 0) return 0;
  const auto x = read(all, n, given);
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (better(std::abs(x[i]), std::abs(x[best])) ||
        (std::isnan(x[best]) && !std::isnan(x[i])))
      best = i;
  return std::isnan(x[best]) ? 1 : static_cast<int>(best + 1);
}

template <class T>
cublasStatus_t add_multiple(const char* call, cublasHandle_t handle, int n,
                            const T* alpha, const T* x, int x_step, T* y,
                            int y_step) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        const Scalar<T> by("alpha", context, alpha);
        change_vectors(call, context, n, [=](const Operands& all) {
          const T a = by.get(all);
          if (a == 0) return;
          const auto from = read<T>(all, n, {"x", x, x_step});
          const auto to = change<T>(all, n, {"y", y, y_step});
          for (int64_t i = 0; i < n; ++i) to[i] = std::fma(a, from[i], to[i]);
        });
      },
      call);
}

template <class T>
cublasStatus_t scale(const char* call, cublasHandle_t handle, int n,
                     const T* alpha, T* x, int x_step) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        const Scalar<T> by("alpha", context, alpha);
        if (x_step <= 0) return;
        change_vectors(call, context, n, [=](const Operands& all) {
          const T a = by.get(all);
          const auto to = change<T>(all, n, {"x", x, x_step});
          for (int64_t i = 0; i < n; ++i) to[i] *= a;
        });
      },
      call);
}

template <class T>
cublasStatus_t copy_elements(const char* call, cublasHandle_t handle, int n,
                             const T* x, int x_step, T* y, int y_step) {
  return answer(
      [&] {
        change_vectors(call, get(handle), n, [=](const Operands& all) {
          const auto from = read<T>(all, n, {"x", x, x_step});
          const auto to = write<T>(all, n, {"y", y, y_step});
          for (int64_t i = 0; i < n; ++i) to[i] = from[i];
        });
      },
      call);
}

template <class T>
cublasStatus_t swap_elements(const char* call, cublasHandle_t handle, int n,
                             T* x, int x_step, T* y, int y_step) {
  return answer(
      [&] {
        change_vectors(call, get(handle), n, [=](const Operands& all) {
          const auto one = change<T>(all, n, {"x", x, x_step});
          const auto other = change<T>(all, n, {"y", y, y_step});
          for (int64_t i = 0; i < n; ++i) std::swap(one[i], other[i]);
        });
      },
      call);
}

template <class T>
cublasStatus_t rotate(const char* call, cublasHandle_t handle, int n, T* x,
                      int x_step, T* y, int y_step, const T* cosine,
                      const T* sine) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        const Scalar<T> by_cosine("c", context, cosine);
        const Scalar<T> by_sine("s", context, sine);
        change_vectors(call, context, n, [=](const Operands& all) {
          const T c = by_cosine.get(all), s = by_sine.get(all);
          const auto one = change<T>(all, n, {"x", x, x_step});
          const auto other = change<T>(all, n, {"y", y, y_step});
          for (int64_t i = 0; i < n; ++i) {
            const T a = one[i], b = other[i];
            one[i] = std::fma(c, a, s * b);
            other[i] = std::fma(c, b, -s * a);
          }
        });
      },
      call);
}

}  // namespace
}  // namespace simt::cublas

using namespace simt::cublas;
using simt::Operands;

extern "C" {

// clang-format off
#define SIMT_CUBLAS_VECTORS(S, s, T)                                           \
  cublasStatus_t cublas##S##axpy(                                              \
      cublasHandle_t handle, int n, const T* alpha, const T* x, int x_step,    \
      T* y, int y_step) {                                                      \
    return add_multiple(__func__, handle, n, alpha, x, x_step, y, y_step);     \
  }                                                                            \
  cublasStatus_t cublas##S##dot(                                               \
      cublasHandle_t handle, int n, const T* x, int x_step, const T* y,        \
      int y_step, T* result) {                                                 \
    const auto compute = [=](const Operands& all) {                            \
      return dot<T>(all, n, {"x", x, x_step}, {"y", y, y_step});               \
    };                                                                         \
    return reduce<T>(__func__, handle, result, compute,                        \
                     CUBLAS_STATUS_MAPPING_ERROR);                             \
  }                                                                            \
  cublasStatus_t cublas##S##nrm2(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* result) {       \
    return reduce<T>(__func__, handle, result, [=](const Operands& all) {      \
      return norm<T>(all, n, {"x", x, x_step});                                \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublas##S##asum(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* result) {       \
    return reduce<T>(__func__, handle, result, [=](const Operands& all) {      \
      return sum_of_magnitudes<T>(all, n, {"x", x, x_step});                   \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublasI##s##amax(                                             \
      cublasHandle_t handle, int n, const T* x, int x_step, int* result) {     \
    return reduce<int>(__func__, handle, result, [=](const Operands& all) {    \
      return extreme<T>(all, n, {"x", x, x_step}, std::greater<T>());          \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublasI##s##amin(                                             \
      cublasHandle_t handle, int n, const T* x, int x_step, int* result) {     \
    return reduce<int>(__func__, handle, result, [=](const Operands& all) {    \
      return extreme<T>(all, n, {"x", x, x_step}, std::less<T>());             \
    });                                                                        \
  }                                                                            \
  cublasStatus_t cublas##S##scal(                                              \
      cublasHandle_t handle, int n, const T* alpha, T* x, int x_step) {        \
    return scale(__func__, handle, n, alpha, x, x_step);                       \
  }                                                                            \
  cublasStatus_t cublas##S##copy(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* y,              \
      int y_step) {                                                            \
    return copy_elements(__func__, handle, n, x, x_step, y, y_step);           \
  }                                                                            \
  cublasStatus_t cublas##S##swap(                                              \
      cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step) {      \
    return swap_elements(__func__, handle, n, x, x_step, y, y_step);           \
  }                                                                            \
  cublasStatus_t cublas##S##rot(                                               \
      cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step,        \
      const T* c, const T* sine) {                                             \
    return rotate(__func__, handle, n, x, x_step, y, y_step, c, sine);         \
  }
SIMT_CUBLAS_VECTORS(S, s, float)
SIMT_CUBLAS_VECTORS(D, d, double)
#undef SIMT_CUBLAS_VECTORS
// clang-format on

}  // extern "C"
