// cuBLAS's calls, by the executor's stand-in or, on GPUs, by cuBLAS itself:
// what they compute, beside sums in double, what they leave as it was, and what
// they answer to arguments that make no sense.

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

// CUDA's samples declare what they make of cuBLAS's errors if these are there.
#if !defined(CUBLAS_V2_H_) || !defined(CUBLAS_API_H_)
#error "cublas_v2.h lacks a guard of NVIDIA's"
#endif

namespace {

using expect::Copy;
using expect::is_true;
using expect::ok;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr cublasOperation_t kN = CUBLAS_OP_N, kT = CUBLAS_OP_T;

void fine(cublasStatus_t status,
          expect::Where where = expect::Where::current()) {
  expect::equal(status, CUBLAS_STATUS_SUCCESS, where);
}
void invalid(cublasStatus_t status,
             expect::Where where = expect::Where::current()) {
  expect::equal(status, CUBLAS_STATUS_INVALID_VALUE, where);
}

std::mt19937 random_bits(1);
int below(int n) { return int(random_bits() % n); }

template <class T>
std::vector<T> random_numbers(size_t n) {
  std::uniform_real_distribution<double> in(-1, 1);
  std::vector<T> all;
  for (size_t i = 0; i < n; ++i) all.push_back(T(float(in(random_bits))));
  return all;
}

// An array of the device that is changed.
template <class T>
class Array {
 public:
  explicit Array(const std::vector<T>& host) : size_(host.size()) {
    ok(cudaMalloc(&device_, size_ * sizeof(T)));
    ok(cudaMemcpy(device_, host.data(), size_ * sizeof(T),
                  cudaMemcpyHostToDevice));
  }
  ~Array() { ok(cudaFree(device_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator T*() const { return device_; }
  std::vector<T> host() const {
    std::vector<T> all(size_);
    ok(cudaMemcpy(all.data(), device_, size_ * sizeof(T),
                  cudaMemcpyDeviceToHost));
    return all;
  }

 private:
  size_t size_;
  T* device_ = nullptr;
};

// A handle in a stream of its own.
struct Blas {
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  Blas() {
    fine(cublasCreate(&handle));
    ok(cudaStreamCreate(&stream));
    fine(cublasSetStream(handle, stream));
  }
  ~Blas() {
    ok(cudaStreamSynchronize(stream));
    fine(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  operator cublasHandle_t() const { return handle; }
  template <class T>
  std::vector<T> get(const Array<T>& array) const {
    ok(cudaStreamSynchronize(stream));
    return array.host();
  }
};

// ---- Products --------------------------------------------------------------

// The calls by their types.
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta,
                    cublasOperation_t tb, int m, int n, int k, float alpha,
                    const float* a, int lda, const float* b, int ldb,
                    float beta, float* c, int ldc) {
  return cublasSgemm(h, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta,
                    cublasOperation_t tb, int m, int n, int k, float alpha,
                    const double* a, int lda, const double* b, int ldb,
                    float beta, double* c, int ldc) {
  const double by = alpha, keep = beta;
  return cublasDgemm(h, ta, tb, m, n, k, &by, a, lda, b, ldb, &keep, c, ldc);
}
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta,
                    cublasOperation_t tb, int m, int n, int k, float alpha,
                    const __half* a, int lda, const __half* b, int ldb,
                    float beta, __half* c, int ldc) {
  const __half by = alpha, keep = beta;
  return cublasHgemm(h, ta, tb, m, n, k, &by, a, lda, b, ldb, &keep, c, ldc);
}
template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
constexpr cudaDataType kTypeOf<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kTypeOf<__nv_bfloat16> = CUDA_R_16BF;
template <class T, class U>
cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta,
                    cublasOperation_t tb, int m, int n, int k, float alpha,
                    const T* a, int lda, const T* b, int ldb, float beta, U* c,
                    int ldc) {
  return cublasGemmEx(h, ta, tb, m, n, k, &alpha, a, kTypeOf<T>, lda, b,
                      kTypeOf<T>, ldb, &beta, c, kTypeOf<U>, ldc,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

// How far a result may be from its exact value: `unit` of the sum of the
// products' magnitudes, and of the result.
template <class T, class U = T>
void product(const Blas& blas, int m, int n, int k, bool ta, bool tb,
             float alpha, float beta, double unit, double unit_of_result) {
  const int lda = (ta ? k : m) + below(4), ldb = (tb ? n : k) + below(4);
  const int ldc = m + below(4);
  const auto a = random_numbers<T>(size_t(lda) * (ta ? m : k));
  const auto b = random_numbers<T>(size_t(ldb) * (tb ? k : n));
  auto c = random_numbers<U>(size_t(ldc) * n);
  if (beta == 0)  // It is not read then.
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) c[i + size_t(j) * ldc] = U(kNan);
  const Array<T> da(a), db(b);
  const Array<U> dc(c);
  fine(gemm(blas, ta ? kT : kN, tb ? kT : kN, m, n, k, alpha,
            static_cast<const T*>(da), lda, static_cast<const T*>(db), ldb,
            beta, static_cast<U*>(dc), ldc));
  const auto got = blas.get(dc);
  size_t wrong = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < ldc; ++i) {
      const size_t at = i + size_t(j) * ldc;
      if (i >= m) {
        wrong += double(float(got[at])) != double(float(c[at]));
        continue;
      }
      double sum = 0, magnitudes = 0;
      for (int l = 0; l < k; ++l) {
        const double x =
            double(a[ta ? l + size_t(i) * lda : i + size_t(l) * lda]);
        const double y =
            double(b[tb ? j + size_t(l) * ldb : l + size_t(j) * ldb]);
        sum += x * y;
        magnitudes += std::abs(x * y);
      }
      const double rest = beta == 0 ? 0 : beta * double(c[at]);
      const double exact = alpha * sum + rest;
      const double room =
          unit * (std::abs(alpha) * magnitudes + std::abs(rest)) +
          unit_of_result * std::abs(exact);
      wrong += !(std::abs(double(got[at]) - exact) <= room + 1e-30);
    }
  }
  expect::equal(wrong, size_t{0});
}

template <class T, class U = T>
void products_of(double unit, double unit_of_result) {
  const Blas blas;
  for (int k = 0; k < 12; ++k) {
    const float beta = k % 3 == 0 ? 0 : k % 3 == 1 ? 1 : -.5f;
    product<T, U>(blas, 1 + below(70), 1 + below(40), 1 + below(300), k & 1,
                  k & 2, k % 5 == 0 ? 1 : 1.5f, beta, unit, unit_of_result);
  }
  product<T, U>(blas, 1, 1, 1, false, false, 1, 0, unit, unit_of_result);
  product<T, U>(blas, 130, 3, 1000, true, false, 1, 0, unit, unit_of_result);
}

void products() {
  products_of<float>(1e-5, 0);
  products_of<double>(1e-14, 0);
  products_of<__half>(1e-2, 1e-3);
  products_of<__half, float>(1e-5, 0);
  products_of<__nv_bfloat16>(1e-5, 8e-3);
  products_of<__nv_bfloat16, float>(1e-5, 0);
}

// NaN and infinity take the way that their sums say; what is multiplied by
// zero is not read.
void special_values() {
  const Blas blas;
  const Array<float> a({kNan, 1, 1, 1}), b({1, 1, 1, kInfinity});
  const Array<float> c({kNan, kNan, kNan, kNan, 7});
  fine(gemm(blas, kN, kN, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2));
  auto got = blas.get(c);
  is_true(std::isnan(got[0]) && got[1] == 2 && std::isnan(got[2]) &&
              got[3] == kInfinity && got[4] == 7,
          "a product with NaN and infinity");
  fine(gemm(blas, kN, kN, 2, 2, 2, 0, a, 2, b, 2, 0, c, 2));
  expect::each(blas.get(c), [](int i) { return i < 4 ? 0 : 7; });
  const Array<float> kept({1, 2, 3, 4});
  fine(gemm(blas, kN, kN, 2, 2, 2, 0, a, 2, b, 2, 2, kept, 2));
  expect::each(blas.get(kept), [](int i) { return 2 * (i + 1); });
  fine(gemm(blas, kN, kN, 2, 2, 0, 1, a, 2, b, 1, .5f, kept, 2));
  expect::each(blas.get(kept), [](int i) { return i + 1; });
  fine(gemm(blas, kN, kN, 0, 2, 2, 1, a, 1, b, 2, 0, kept, 1));
  fine(gemm(blas, kN, kN, 2, 0, 2, 1, a, 2, b, 2, 0, kept, 2));
  expect::each(blas.get(kept), [](int i) { return i + 1; });
}

void batches() {
  const Blas blas;
  const auto a = random_numbers<float>(24), b = random_numbers<float>(24);
  const Array<float> da(a), db(b), dc(std::vector<float>(24, 5));
  const float one = 1, zero = 0;
  const auto sum = [&](int batch, int i, int j) {
    return double(a[batch * 8 + i]) * b[batch * 4 + 2 * j] +
           double(a[batch * 8 + i + 2]) * b[batch * 4 + 2 * j + 1];
  };
  fine(cublasSgemmStridedBatched(blas, kN, kN, 2, 2, 2, &one, da, 2, 8, db, 2,
                                 4, &zero, dc, 2, 5, 3));
  auto got = blas.get(dc);
  for (int batch = 0; batch < 3; ++batch)
    for (int k = 0; k < 4; ++k)
      is_true(std::abs(got[batch * 5 + k] - sum(batch, k % 2, k / 2)) < 1e-6,
              "one of a strided batch");
  expect::equal(got[4], 5.f);
  const Copy<const float*> as({da, da + 8}), bs({db, db + 4});
  const Copy<float*> cs({dc + 10, dc});
  fine(cublasSgemmBatched(blas, kN, kN, 2, 2, 2, &one, as, 2, bs, 2, &zero, cs,
                          2, 2));
  got = blas.get(dc);
  is_true(std::abs(got[10] - sum(0, 0, 0)) < 1e-6 &&
              std::abs(got[0] - sum(1, 0, 0)) < 1e-6,
          "a batch of pointers");
  fine(cublasSgemmBatched(blas, kN, kN, 2, 2, 2, &one, as, 2, bs, 2, &zero, cs,
                          2, 0));
  invalid(cublasSgemmBatched(blas, kN, kN, 2, 2, 2, &one, as, 2, bs, 2, &zero,
                             cs, 2, -1));
}

// ---- Vectors and special matrices ------------------------------------------

// Where element i of n lies.
int place(int i, int n, int step) {
  return step < 0 ? (n - 1 - i) * -step : i * step;
}

void vectors() {
  const Blas blas;
  for (const auto [x_step, y_step] : {std::pair(1, 1), {2, -3}, {-1, 2}}) {
    const int n = 1000;
    const auto x = random_numbers<float>(3 * n),
               y = random_numbers<float>(3 * n);
    const Array<float> dx(x), dy(y);
    const float alpha = 2;
    double dot = 0;
    for (int i = 0; i < n; ++i)
      dot += double(x[place(i, n, x_step)]) * y[place(i, n, y_step)];
    float result = 0;
    fine(cublasSdot(blas, n, dx, x_step, dy, y_step, &result));
    is_true(std::abs(result - dot) < 1e-4, "a dot product");
    fine(cublasSaxpy(blas, n, &alpha, dx, x_step, dy, y_step));
    auto want = y;
    for (int i = 0; i < n; ++i)
      want[place(i, n, y_step)] =
          std::fma(2.f, x[place(i, n, x_step)], want[place(i, n, y_step)]);
    expect::each(blas.get(dy), [&](int i) { return want[i]; });
    fine(cublasScopy(blas, n, dx, x_step, dy, y_step));
    for (int i = 0; i < n; ++i)
      want[place(i, n, y_step)] = x[place(i, n, x_step)];
    expect::each(blas.get(dy), [&](int i) { return want[i]; });
    fine(cublasSswap(blas, n, dx, x_step, dy, y_step));
    expect::each(blas.get(dy), [&](int i) { return want[i]; });
  }
}

void rotations() {
  const Blas blas;
  const Array<double> x({1, 100, 2, 100, 3}), y({4, 5, 6});
  const double c = 0.5, s = 2;
  fine(cublasDrot(blas, 3, x, 2, y, -1, &c, &s));
  const double turned_x[] = {12.5, 100, 11, 100, 9.5};
  const double turned_y[] = {-4, -1.5, 1};
  expect::each(blas.get(x), [&](int i) { return turned_x[i]; });
  expect::each(blas.get(y), [&](int i) { return turned_y[i]; });
}

void norms() {
  const Blas blas;
  const Array<double> x({3, 100, -4, 100, 0, 100, -4});
  double result = 0;
  int which = 0;
  fine(cublasDnrm2(blas, 3, x, 2, &result));
  expect::equal(result, 5.);
  fine(cublasDasum(blas, 4, x, 2, &result));
  expect::equal(result, 11.);
  fine(cublasIdamax(blas, 4, x, 2, &which));
  expect::equal(which, 2);
  fine(cublasIdamin(blas, 4, x, 2, &which));
  expect::equal(which, 3);
  fine(cublasIdamax(blas, 0, x, 1, &which));
  expect::equal(which, 0);
  fine(cublasIdamax(blas, 4, x, -1, &which));
  expect::equal(which, 0);
  fine(cublasDnrm2(blas, 4, x, 0, &result));
  expect::equal(result, 0.);
  fine(cublasDdot(blas, 0, x, 1, x, 1, &result));
  expect::equal(result, 0.);
  const Array<float> large({1e30f, 1e30f, -1e30f, 1e30f});
  float norm = 0;
  fine(cublasSnrm2(blas, 4, large, 1, &norm));
  is_true(std::abs(norm / 2e30f - 1) < 1e-6, "squares do not overflow");
  const Array<float> special({kNan, kInfinity, 1, kNan, -kInfinity});
  fine(cublasIsamax(blas, 5, special, 1, &which));
  expect::equal(which, 2);
  fine(cublasIsamin(blas, 5, special, 1, &which));
  expect::equal(which, 3);
  fine(cublasIsamax(blas, 2, special, 3, &which));
  expect::equal(which, 1);
  fine(cublasSnrm2(blas, 4, special, 1, &norm));
  expect::equal(norm, kInfinity);
  fine(cublasSasum(blas, 4, special, 1, &norm));
  is_true(std::isnan(norm), "a sum with NaN");
  const float three = 3;
  const Array<float> y({kNan, kInfinity, 1, 2});
  fine(cublasSscal(blas, 4, &three, y, -1));  // Nothing.
  fine(cublasSscal(blas, 2, &three, y + 2, 1));
  const auto got = blas.get(y);
  is_true(
      std::isnan(got[0]) && got[1] == kInfinity && got[2] == 3 && got[3] == 6,
      "scaled");
}

void matrices_and_vectors() {
  const Blas blas;
  for (int k = 0; k < 8; ++k) {
    const int m = 1 + below(90), n = 1 + below(90), lda = m + below(3);
    const bool transposed = k & 1;
    const int rows = transposed ? n : m, depth = transposed ? m : n;
    const int x_step = k & 2 ? 1 : -2, y_step = k & 4 ? 1 : 3;
    const auto a = random_numbers<double>(size_t(lda) * n);
    const auto x = random_numbers<double>(2 * depth);
    const auto y = random_numbers<double>(3 * rows);
    const Array<double> da(a), dx(x), dy(y);
    const double alpha = 1.5, beta = k % 3 ? -1 : 0;
    const auto op = transposed ? kT : k & 2 ? CUBLAS_OP_CONJG : kN;
    fine(cublasDgemv(blas, op, m, n, &alpha, da, lda, dx, x_step, &beta, dy,
                     y_step));
    const auto got = blas.get(dy);
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int l = 0; l < depth; ++l)
        sum += a[transposed ? l + i * lda : i + l * lda] *
               x[place(l, depth, x_step)];
      const int at = place(i, rows, y_step);
      is_true(std::abs(got[at] - (alpha * sum + beta * y[at])) < 1e-12, "gemv");
    }
  }
  const Array<float> a({1, 1, 9, 1, 1, 9}), x({1, 2}), y({3, 4});
  const float two = 2;
  fine(cublasSger(blas, 2, 2, &two, x, 1, y, -1, a, 3));
  const float want[] = {9, 17, 9, 7, 13, 9};
  expect::each(blas.get(a), [&](int i) { return want[i]; });
}

void special_matrices() {
  const Blas blas;
  const double one = 1, two = 2, zero = 0;
  const int n = 40;
  auto a = random_numbers<double>(n * n);
  for (int i = 0; i < n; ++i) a[i * (n + 1)] = 4;
  const auto b = random_numbers<double>(n * n);
  const Array<double> da(a), db(b), dc(std::vector<double>(n * n, kNan));
  const auto residue = [&](bool left, bool upper, bool transposed) {
    const auto x = blas.get(db);
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < n; ++l) {
          int row = left ? i : l, column = left ? l : j;
          if (transposed) std::swap(row, column);
          if (upper ? row > column : row < column) continue;
          sum += a[row + column * n] * (left ? x[l + j * n] : x[i + l * n]);
        }
        worst = std::max(worst, std::abs(sum - 2 * b[i + j * n]));
      }
    }
    return worst;
  };
  for (int k = 0; k < 8; ++k) {
    ok(cudaMemcpy(db, b.data(), n * n * sizeof(double),
                  cudaMemcpyHostToDevice));
    fine(cublasDtrsm(blas, k & 1 ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                     k & 2 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                     k & 4 ? kT : kN, CUBLAS_DIAG_NON_UNIT, n, n, &two, da, n,
                     db, n));
    is_true(residue(k & 1, k & 2, k & 4) < 1e-9, "trsm solves its system");
  }
  ok(cudaMemcpy(db, b.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
  fine(cublasDsymm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, n, &one,
                   da, n, db, n, &zero, dc, n));
  auto got = blas.get(dc);
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < n; ++l)
        sum += a[i > l ? i + l * n : l + i * n] * b[l + j * n];
      worst = std::max(worst, std::abs(sum - got[i + j * n]));
    }
  is_true(worst < 1e-12, "symm");
  fine(cublasDsyrk(blas, CUBLAS_FILL_MODE_UPPER, kT, n, n, &one, db, n, &zero,
                   dc, n));
  const auto before = got;
  got = blas.get(dc);
  worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < n; ++l) sum += b[l + i * n] * b[l + j * n];
      worst = std::max(
          worst, std::abs((i > j ? before[i + j * n] : sum) - got[i + j * n]));
    }
  is_true(worst < 1e-12, "syrk changes one half");
  fine(cublasDgeam(blas, kT, kN, n, n, &two, db, n, &zero, nullptr, n, dc, n));
  expect::each(blas.get(dc), [&](int i) { return 2 * b[i / n + i % n * n]; });
  const Array<double> triangle({2, 1, kNan, 4}), x({2, 9});
  fine(cublasDtrsv(blas, CUBLAS_FILL_MODE_LOWER, kN, CUBLAS_DIAG_NON_UNIT, 2,
                   triangle, 2, x, 1));
  expect::each(blas.get(x), [](int i) { return 1 + i; });
}

// ---- Handles ---------------------------------------------------------------

void pointer_modes() {
  const Blas blas;
  fine(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
  const Array<float> scalars({2, 0, -1}), x({1, 2, 3}), y({kNan, kNan, kNan});
  fine(cublasSgemm(blas, kN, kN, 3, 1, 1, scalars, x, 3, scalars, 1,
                   scalars + 1, y, 3));
  fine(cublasSaxpy(blas, 3, scalars + 2, x, 1, y, 1));
  fine(cublasSdot(blas, 3, x, 1, y, 1, scalars + 1));
  expect::each(blas.get(y), [](int i) { return 3 * (i + 1); });
  expect::equal(blas.get(scalars)[1], 42.f);
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  fine(cublasGetPointerMode(blas, &mode));
  expect::equal(mode, CUBLAS_POINTER_MODE_DEVICE);
}

// A call in a graph runs when the graph does, with the scalar that it was
// given.
void graphs() {
  const Blas blas;
  const Array<float> x({1, 2, 3}), y({0, 0, 0});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  float alpha = 2, result = 0;
  ok(cudaStreamBeginCapture(blas.stream, cudaStreamCaptureModeThreadLocal));
  fine(cublasSaxpy(blas, 3, &alpha, x, 1, y, 1));
  alpha = 100;
  ok(cudaStreamEndCapture(blas.stream, &graph));
  expect::each(blas.get(y), [](int) { return 0; });
  ok(cudaGraphInstantiate(&ready, graph, 0));
  ok(cudaGraphLaunch(ready, blas.stream));
  ok(cudaGraphLaunch(ready, blas.stream));
  expect::each(blas.get(y), [](int i) { return 4 * (i + 1); });
  ok(cudaGraphExecDestroy(ready));
  ok(cudaGraphDestroy(graph));
  ok(cudaStreamBeginCapture(blas.stream, cudaStreamCaptureModeThreadLocal));
  expect::equal(cublasSdot(blas, 3, x, 1, y, 1, &result),
                CUBLAS_STATUS_INTERNAL_ERROR);
  is_true(cudaStreamEndCapture(blas.stream, &graph) != cudaSuccess,
          "a result for the host ends the capture");
  cudaGetLastError();
}

void statuses() {
  invalid(cublasCreate(nullptr));
  expect::equal(cublasDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  const Blas blas;
  const Array<float> a({1, 2, 3, 4}), c({7, 7, 7, 7});
  const float one = 1;
  float result = 0;
  expect::equal(gemm(nullptr, kN, kN, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2),
                CUBLAS_STATUS_NOT_INITIALIZED);
  invalid(gemm(blas, kN, kN, -1, 2, 2, 1, a, 2, a, 2, 0, c, 2));
  invalid(gemm(blas, kN, kN, 2, -1, 2, 1, a, 2, a, 2, 0, c, 2));
  invalid(gemm(blas, kN, kN, 2, 2, -1, 1, a, 2, a, 2, 0, c, 2));
  invalid(gemm(blas, kN, kN, 2, 2, 2, 1, a, 1, a, 2, 0, c, 2));
  invalid(gemm(blas, kN, kT, 2, 2, 2, 1, a, 2, a, 1, 0, c, 2));
  invalid(gemm(blas, kN, kN, 2, 2, 2, 1, a, 2, a, 2, 0, c, 1));
  invalid(gemm(blas, kN, kN, 0, 2, 2, 1, a, 0, a, 2, 0, c, 1));
  invalid(gemm(blas, kN, static_cast<cublasOperation_t>(7), 2, 2, 2, 1, a, 2, a,
               2, 0, c, 2));
  invalid(cublasSgemm(blas, kN, kN, 2, 2, 2, nullptr, a, 2, a, 2, &one, c, 2));
  invalid(cublasSger(blas, 2, 2, &one, a, 0, a, 1, c, 2));
  invalid(cublasSgemv(blas, kN, 2, 2, &one, a, 1, a, 1, &one, c, 1));
  fine(cublasSgemv(blas, kN, -2, 2, &one, a, 2, a, 1, &one, c, 1));
  invalid(cublasSgeam(blas, kT, kN, 2, 2, &one, c, 2, &one, a, 2, c, 2));
  invalid(cublasSnrm2(blas, 2, a, 1, nullptr));
  expect::equal(cublasSdot(blas, 2, a, 1, a, 1, nullptr),
                CUBLAS_STATUS_MAPPING_ERROR);
  expect::equal(cublasGemmEx(blas, kN, kN, 2, 2, 2, &one, a, CUDA_R_32F, 2, a,
                             CUDA_R_16F, 2, &one, c, CUDA_R_32F, 2,
                             CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                CUBLAS_STATUS_NOT_SUPPORTED);
  invalid(cublasSetMathMode(blas, static_cast<cublasMath_t>(77)));
  fine(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH));
  invalid(cublasSetPointerMode(blas, static_cast<cublasPointerMode_t>(5)));
  fine(cublasSaxpy(blas, -3, &one, a, 1, c, 1));
  fine(cublasSdot(blas, -3, a, 1, a, 1, &result));
  expect::each(blas.get(c), [](int) { return 7; });
  is_true(!std::strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE),
                       "CUBLAS_STATUS_INVALID_VALUE"),
          "a status has its name");
  is_true(!std::strcmp(cublasGetStatusString(CUBLAS_STATUS_NOT_INITIALIZED),
                       "the library was not initialized"),
          "a status has its sentence");
  int version = 0;
  fine(cublasGetVersion(blas, &version));
  is_true(version >= 110000, "there is a version");
}

void copies() {
  const std::vector<float> from = {0, 1, 2, 3, 4, 5, 6, 7};
  const Array<float> to(std::vector<float>(9, 9));
  fine(cublasSetVector(3, 4, from.data(), 2, to, 1));
  float want[] = {0, 2, 4, 9, 9, 9, 9, 9, 9};
  expect::each(to.host(), [&](int i) { return want[i]; });
  fine(cublasSetMatrix(2, 2, 4, from.data(), 3, to, 4));
  const float matrix[] = {0, 1, 4, 9, 3, 4, 9, 9, 9};
  expect::each(to.host(), [&](int i) { return matrix[i]; });
  std::vector<float> back(4);
  fine(cublasGetMatrix(2, 2, 4, to, 4, back.data(), 2));
  fine(cublasGetVector(1, 4, to + 2, 1, back.data(), 1));
  const float expected[] = {4, 1, 3, 4};
  expect::each(back, [&](int i) { return expected[i]; });
  invalid(cublasSetVector(3, 0, from.data(), 1, to, 1));
  invalid(cublasSetVector(3, 4, from.data(), 0, to, 1));
  expect::equal(cublasSetMatrix(2, 2, 4, from.data(), 1, to, 2),
                CUBLAS_STATUS_MAPPING_ERROR);
}

// ---- Mistakes, which the executor names ------------------------------------

int child(const std::string& which) {
  if (which == "again") return 0;
  const Blas blas;
  float* x = nullptr;
  ok(cudaMalloc(&x, 100 * sizeof(float)));
  if (which != "uninitialised") ok(cudaMemset(x, 0, 100 * sizeof(float)));
  if (which == "freed") ok(cudaFree(x));
  const float one = 1;
  float* to = nullptr;
  ok(cudaMalloc(&to, 100 * sizeof(float)));
  ok(cudaMemset(to, 0, 100 * sizeof(float)));
  const int n = which == "outside" ? 11 : 10;
  std::vector<float> host(100);
  float* const y = which == "host" ? host.data() : to;
  gemm(blas, kN, kN, 10, n, 10, 1, x, 10, x, 10, 1, y, 10);
  cublasSaxpy(blas, 1, &one, x, 1, to, 1);
  std::cout << cudaGetErrorName(cudaStreamSynchronize(blas.stream))
            << std::endl;
  std::_Exit(cudaGetLastError() != cudaSuccess);
}

void mistakes() {
  const struct {
    const char *which, *said;
    bool ends;
  } all[] = {
      {"outside", "out of bounds: element (0, 10) of B", true},
      {"freed", "use after free: element (0, 0) of A", true},
      {"host", "out of bounds: element (0, 0) of C", true},
      {"uninitialised", "uninitialised read: element (0, 0) of A", false}};
  for (const auto& one : all) {
    const Ended ended = run_self(one.which);
    const bool told = ended.output.find(one.said) != std::string::npos &&
                      ended.output.find("in cublasSgemm") != std::string::npos;
    is_true(told, one.said);
    if (!told) std::cout << ended.output;
    const bool failed =
        ended.output.find("cudaErrorIllegalAddress") != std::string::npos;
    expect::equal(failed, one.ends);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "again")) return child(argv[1]);
  products();
  special_values();
  batches();
  vectors();
  rotations();
  norms();
  matrices_and_vectors();
  special_matrices();
  pointer_modes();
  graphs();
  statuses();
  copies();
  if (on_executor() && argc == 1) {
    mistakes();
    run_again_late();
  }
  return expect::report();
}
