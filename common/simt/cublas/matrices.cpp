// What cuBLAS does with a matrix and vectors, and with special matrices (the
// rest of its levels 2 and 3).
#include <cmath>

#include "common/simt/cublas/handle.h"
#include "common/simt/cublas/product.h"

namespace simt::cublas {
namespace {

// ---- A matrix and vectors --------------------------------------------------

template <class T>
cublasStatus_t gemv(const char* call, cublasHandle_t handle,
                    cublasOperation_t op, int m, int n, const T* alpha,
                    const T* a, int lda, const T* x, int x_step, const T* beta,
                    T* y, int y_step) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        // Of real numbers that one changes nothing; only gemv takes it.
        require_value(is_operation(op) || op == CUBLAS_OP_CONJG, "operation ",
                      int(op));
        if (m <= 0 || n <= 0) return;
        require_leading("lda", lda, m);
        if (y_step == 0) throw Lacking{"results that lie on one another"};
        const Scalar<T> by("alpha", context, alpha);
        const Scalar<T> keep("beta", context, beta);
        const bool is_transposed = op == CUBLAS_OP_T || op == CUBLAS_OP_C;
        const int64_t rows = is_transposed ? n : m, depth = m + n - rows;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T scale = by.get(all), rest = keep.get(all);
          const int64_t k = scale == 0 ? 0 : depth;
          const Shape of_a = k ? Shape{m, n, lda} : Shape{0, 0, lda};
          const Shape of_x = shape_of_vector(k, x_step);
          const Shape of_y = shape_of_vector(rows, y_step);
          const Matrix<const T> from = {all.read("A", a, of_a), lda,
                                        is_transposed};
          const Vector<const T> by_x(all.read("x", x, of_x), k, x_step);
          const Vector<T> to(
              rest == 0 ? all.write("y", y, of_y) : all.change("y", y, of_y),
              rows, y_step);
          Product<T>::compute(
              rows, 1, k, from, [&](int64_t l, int64_t) { return by_x[l]; },
              [&](int64_t i, int64_t, T sum) {
                combine(to[i], scale, sum, rest);
              });
        });
      },
      call);
}

template <class T>
cublasStatus_t ger(const char* call, cublasHandle_t handle, int m, int n,
                   const T* alpha, const T* x, int x_step, const T* y,
                   int y_step, T* a, int lda) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_value(m >= 0 && n >= 0, "m = ", m, ", n = ", n);
        require_value(x_step != 0 && y_step != 0, "an increment is 0");
        require_leading("lda", lda, m);
        const Scalar<T> by("alpha", context, alpha);
        if (m == 0 || n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T scale = by.get(all);
          if (scale == 0) return;
          const Vector<const T> left(
              all.read("x", x, shape_of_vector(m, x_step)), m, x_step);
          const Vector<const T> right(
              all.read("y", y, shape_of_vector(n, y_step)), n, y_step);
          const Matrix<T> to = {all.change("A", a, {m, n, lda}), lda};
          for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i)
              to(i, j) = std::fma(scale * right[j], left[i], to(i, j));
        });
      },
      call);
}

// ---- Sums and special matrices ---------------------------------------------

template <class T>
cublasStatus_t geam(const char* call, cublasHandle_t handle,
                    cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, const T* alpha, const T* a, int lda, const T* beta,
                    const T* b, int ldb, T* c, int ldc) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_value(is_operation(op_a) && is_operation(op_b), "operations ",
                      int(op_a), " and ", int(op_b));
        require_value(m >= 0 && n >= 0, "m = ", m, ", n = ", n);
        const bool ta = op_a != CUBLAS_OP_N, tb = op_b != CUBLAS_OP_N;
        require_leading("lda", lda, ta ? n : m);
        require_leading("ldb", ldb, tb ? n : m);
        require_leading("ldc", ldc, m);
        require_value(a != c || (!ta && lda == ldc), "C is A, otherwise laid");
        require_value(b != c || (!tb && ldb == ldc), "C is B, otherwise laid");
        const Scalar<T> by_a("alpha", context, alpha);
        const Scalar<T> by_b("beta", context, beta);
        if (m == 0 || n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T of_a = by_a.get(all), of_b = by_b.get(all);
          // What counts nothing is not read.
          const auto given = [&](const char* name, T by, const T* at,
                                 int64_t ld, bool is_transposed) {
            Shape shape = is_transposed ? Shape{n, m, ld} : Shape{m, n, ld};
            if (by == 0) shape.columns = 0;
            return Matrix<const T>{all.read(name, at, shape), ld,
                                   is_transposed};
          };
          const auto one = given("A", of_a, a, lda, ta);
          const auto other = given("B", of_b, b, ldb, tb);
          const Matrix<T> to = {all.write("C", c, {m, n, ldc}), ldc};
          for (int64_t j = 0; j < n; ++j) {
            for (int64_t i = 0; i < m; ++i) {
              const T rest = of_b == 0 ? 0 : of_b * other(i, j);
              to(i, j) = of_a == 0 ? rest : std::fma(of_a, one(i, j), rest);
            }
          }
        });
      },
      call);
}

// The half of a matrix that is given: a place in it, or the place across.
bool is_given(cublasFillMode_t fill, int64_t row, int64_t column) {
  return fill == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column;
}

void require_fill(cublasFillMode_t fill) {
  require_value(
      fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER,
      "fill mode ", int(fill));
}

void require_side(cublasSideMode_t side) {
  require_value(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, "side ",
                int(side));
}

// The given half of a square matrix, one column after the other.
template <class T>
Matrix<const T> read_half(const Operands& all, cublasFillMode_t fill,
                          const T* a, int64_t n, int64_t lda) {
  const T* data = nullptr;
  for (int64_t j = 0; j < n; ++j) {
    const bool is_lower = fill == CUBLAS_FILL_MODE_LOWER;
    const int64_t first = is_lower ? j : 0, rows = is_lower ? n - j : j + 1;
    const T* const column = all.read("A", a + j * lda + first, {rows, 1, rows});
    if (j == 0) data = column - first;
  }
  return {data, lda};
}

template <class T>
cublasStatus_t symm(const char* call, cublasHandle_t handle,
                    cublasSideMode_t side, cublasFillMode_t fill, int m, int n,
                    const T* alpha, const T* a, int lda, const T* b, int ldb,
                    const T* beta, T* c, int ldc) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_side(side);
        require_fill(fill);
        require_value(m >= 0 && n >= 0, "m = ", m, ", n = ", n);
        const bool is_left = side == CUBLAS_SIDE_LEFT;
        const int64_t k = is_left ? m : n;
        require_leading("lda", lda, k);
        require_leading("ldb", ldb, m);
        require_leading("ldc", ldc, m);
        const Scalar<T> by("alpha", context, alpha);
        const Scalar<T> keep("beta", context, beta);
        if (m == 0 || n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T scale = by.get(all), rest = keep.get(all);
          const int64_t depth = scale == 0 ? 0 : k;
          const auto half = read_half(all, fill, a, depth, lda);
          const Shape of_b = {depth ? m : 0, n, ldb}, of_c = {m, n, ldc};
          const Matrix<const T> other = {all.read("B", b, of_b), ldb};
          const Matrix<T> to = {
              rest == 0 ? all.write("C", c, of_c) : all.change("C", c, of_c),
              ldc};
          const auto whole = [&](int64_t i, int64_t j) {
            return is_given(fill, i, j) ? half(i, j) : half(j, i);
          };
          const auto take = [&](int64_t i, int64_t j, T sum) {
            combine(to(i, j), scale, sum, rest);
          };
          if (is_left)
            Product<T>::compute(m, n, depth, whole, other, take);
          else
            Product<T>::compute(m, n, depth, other, whole, take);
        });
      },
      call);
}

template <class T>
cublasStatus_t syrk(const char* call, cublasHandle_t handle,
                    cublasFillMode_t fill, cublasOperation_t op, int n, int k,
                    const T* alpha, const T* a, int lda, const T* beta, T* c,
                    int ldc) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_fill(fill);
        require_value(is_operation(op), "operation ", int(op));
        require_value(n >= 0 && k >= 0, "n = ", n, ", k = ", k);
        const bool is_transposed = op != CUBLAS_OP_N;
        require_leading("lda", lda, is_transposed ? k : n);
        require_leading("ldc", ldc, n);
        const Scalar<T> by("alpha", context, alpha);
        const Scalar<T> keep("beta", context, beta);
        if (n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T scale = by.get(all), rest = keep.get(all);
          const int64_t depth = scale == 0 ? 0 : k;
          const Shape of_a =
              is_transposed ? Shape{depth, n, lda} : Shape{n, depth, lda};
          const Matrix<const T> from = {all.read("A", a, of_a), lda,
                                        is_transposed};
          T* data = nullptr;
          for (int64_t j = 0; j < n; ++j) {
            const bool is_lower = fill == CUBLAS_FILL_MODE_LOWER;
            const int64_t first = is_lower ? j : 0;
            const int64_t rows = is_lower ? n - j : j + 1;
            const Shape shape = {rows, 1, rows};
            T* const at = c + j * int64_t{ldc} + first;
            T* const column = rest == 0 ? all.write("C", at, shape)
                                        : all.change("C", at, shape);
            if (j == 0) data = column - first;
          }
          const Matrix<T> to = {data, ldc};
          Product<T>::compute(
              n, n, depth, from,
              [&](int64_t l, int64_t j) { return from(j, l); },
              [&](int64_t i, int64_t j, T sum) {
                if (is_given(fill, i, j)) combine(to(i, j), scale, sum, rest);
              });
        });
      },
      call);
}

// ---- Triangles -------------------------------------------------------------

// A triangle, as an operation turns it.
template <class T>
struct Triangle {
  Matrix<const T> at;
  bool is_lower, is_unit;

  // x becomes what the triangle times it was.
  template <class X>
  void solve(int64_t n, X x) const {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = is_lower ? step : n - 1 - step;
      T rest = x(i);
      const int64_t first = is_lower ? 0 : i + 1, last = is_lower ? i : n;
      for (int64_t l = first; l < last; ++l)
        rest = std::fma(-at(i, l), x(l), rest);
      x(i) = is_unit ? rest : rest / at(i, i);
    }
  }
};

// What solves a system from a side: from the right, with the rows of B, it is
// the other triangle from the left.
template <class T>
Triangle<T> triangle_of(const Operands& all, cublasFillMode_t fill,
                        bool is_transposed, cublasDiagType_t diagonal,
                        const T* a, int64_t n, int64_t lda) {
  Matrix<const T> half = read_half(all, fill, a, n, lda);
  half.is_transposed = is_transposed;
  const bool is_lower = (fill == CUBLAS_FILL_MODE_LOWER) != is_transposed;
  return {half, is_lower, diagonal == CUBLAS_DIAG_UNIT};
}

void require_triangle(cublasFillMode_t fill, cublasOperation_t op,
                      cublasDiagType_t diagonal) {
  require_fill(fill);
  require_value(is_operation(op), "operation ", int(op));
  require_value(
      diagonal == CUBLAS_DIAG_UNIT || diagonal == CUBLAS_DIAG_NON_UNIT,
      "diagonal ", int(diagonal));
}

template <class T>
cublasStatus_t trsv(const char* call, cublasHandle_t handle,
                    cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diagonal, int n, const T* a, int lda, T* x,
                    int x_step) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_triangle(fill, op, diagonal);
        require_value(n >= 0, "n = ", n);
        require_leading("lda", lda, n);
        require_value(x_step != 0, "the increment is 0");
        if (n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const auto triangle =
              triangle_of(all, fill, op != CUBLAS_OP_N, diagonal, a, n, lda);
          const Vector<T> to(all.change("x", x, shape_of_vector(n, x_step)), n,
                             x_step);
          triangle.solve(n, [&](int64_t i) -> T& { return to[i]; });
        });
      },
      call);
}

template <class T>
cublasStatus_t trsm(const char* call, cublasHandle_t handle,
                    cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t op, cublasDiagType_t diagonal, int m,
                    int n, const T* alpha, const T* a, int lda, T* b, int ldb) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_side(side);
        require_triangle(fill, op, diagonal);
        require_value(m >= 0 && n >= 0, "m = ", m, ", n = ", n);
        const bool is_left = side == CUBLAS_SIDE_LEFT;
        const int64_t k = is_left ? m : n;
        require_leading("lda", lda, k);
        require_leading("ldb", ldb, m);
        const Scalar<T> by("alpha", context, alpha);
        if (m == 0 || n == 0) return;
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const T scale = by.get(all);
          const Shape of_b = {m, n, ldb};
          const Matrix<T> to = {
              scale == 0 ? all.write("B", b, of_b) : all.change("B", b, of_b),
              ldb};
          for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i)
              to(i, j) = scale == 0 ? T(0) : scale * to(i, j);
          if (scale == 0) return;
          const auto triangle = triangle_of(
              all, fill, (op != CUBLAS_OP_N) == is_left, diagonal, a, k, lda);
          for (int64_t j = 0; j < m + n - k; ++j)
            triangle.solve(k, [&](int64_t i) -> T& {
              return is_left ? to(i, j) : to(j, i);
            });
        });
      },
      call);
}

}  // namespace
}  // namespace simt::cublas

using namespace simt::cublas;

extern "C" {

// clang-format off
#define SIMT_CUBLAS_MATRICES(S, T)                                             \
  cublasStatus_t cublas##S##gemv(                                              \
      cublasHandle_t handle, cublasOperation_t op, int m, int n,               \
      const T* alpha, const T* a, int lda, const T* x, int x_step,             \
      const T* beta, T* y, int y_step) {                                       \
    return gemv(__func__, handle, op, m, n, alpha, a, lda, x, x_step, beta, y, \
                y_step);                                                       \
  }                                                                            \
  cublasStatus_t cublas##S##ger(                                               \
      cublasHandle_t handle, int m, int n, const T* alpha, const T* x,         \
      int x_step, const T* y, int y_step, T* a, int lda) {                     \
    return ger(__func__, handle, m, n, alpha, x, x_step, y, y_step, a, lda);   \
  }                                                                            \
  cublasStatus_t cublas##S##trsv(                                              \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,      \
      cublasDiagType_t diagonal, int n, const T* a, int lda, T* x,             \
      int x_step) {                                                            \
    return trsv(__func__, handle, fill, op, diagonal, n, a, lda, x, x_step);   \
  }                                                                            \
  cublasStatus_t cublas##S##geam(                                              \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, const T* alpha, const T* a, int lda, const T* beta,        \
      const T* b, int ldb, T* c, int ldc) {                                    \
    return geam(__func__, handle, op_a, op_b, m, n, alpha, a, lda, beta, b,    \
                ldb, c, ldc);                                                  \
  }                                                                            \
  cublasStatus_t cublas##S##symm(                                              \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,     \
      int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb,  \
      const T* beta, T* c, int ldc) {                                          \
    return symm(__func__, handle, side, fill, m, n, alpha, a, lda, b, ldb,     \
                beta, c, ldc);                                                 \
  }                                                                            \
  cublasStatus_t cublas##S##syrk(                                              \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,      \
      int n, int k, const T* alpha, const T* a, int lda, const T* beta, T* c,  \
      int ldc) {                                                               \
    return syrk(__func__, handle, fill, op, n, k, alpha, a, lda, beta, c,      \
                ldc);                                                          \
  }                                                                            \
  cublasStatus_t cublas##S##trsm(                                              \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,     \
      cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,           \
      const T* alpha, const T* a, int lda, T* b, int ldb) {                    \
    return trsm(__func__, handle, side, fill, op, diagonal, m, n, alpha, a,    \
                lda, b, ldb);                                                  \
  }
SIMT_CUBLAS_MATRICES(S, float)
SIMT_CUBLAS_MATRICES(D, double)
#undef SIMT_CUBLAS_MATRICES
// clang-format on

}  // extern "C"
