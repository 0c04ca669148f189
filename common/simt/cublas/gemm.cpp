// Products of general matrices, alone and many at once.
#include "common/simt/cublas/handle.h"
#include "common/simt/cublas/product.h"

namespace simt::cublas {
namespace {

// What a call says of its products, but for where they lie.
struct Sizes {
  cublasOperation_t op_a, op_b;
  int m, n, k, lda, ldb, ldc;

  void require_right(int64_t count) const {
    require_value(is_operation(op_a) && is_operation(op_b), "operations ",
                  int(op_a), " and ", int(op_b));
    require_value(m >= 0 && n >= 0 && k >= 0 && count >= 0, "m = ", m,
                  ", n = ", n, ", k = ", k, ", count = ", count);
    require_leading("lda", lda, op_a == CUBLAS_OP_N ? m : k);
    require_leading("ldb", ldb, op_b == CUBLAS_OP_N ? k : n);
    require_leading("ldc", ldc, m);
  }
  bool is_nothing(int64_t count) const {
    return m == 0 || n == 0 || count == 0;
  }
};

// Of elements T and sums in Real; C's elements and the scalars may be others.
template <class T, class U, class S, class Real>
struct Gemm {
  Sizes sizes;
  Scalar<S> alpha, beta;

  void compute(const Operands& all, const T* a, const T* b, U* c) const {
    const auto [op_a, op_b, m, n, k, lda, ldb, ldc] = sizes;
    const Real by = static_cast<Real>(alpha.get(all));
    const Real keep = static_cast<Real>(beta.get(all));
    const int64_t depth = by == 0 ? 0 : k;
    const bool ta = op_a != CUBLAS_OP_N, tb = op_b != CUBLAS_OP_N;
    const Shape of_a = ta ? Shape{depth, m, lda} : Shape{m, depth, lda};
    const Shape of_b = tb ? Shape{n, depth, ldb} : Shape{depth, n, ldb};
    const Matrix<const T> left = {all.read("A", a, of_a), lda, ta};
    const Matrix<const T> right = {all.read("B", b, of_b), ldb, tb};
    const Shape of_c = {m, n, ldc};
    const Matrix<U> to = {
        keep == 0 ? all.write("C", c, of_c) : all.change("C", c, of_c), ldc};
    const auto wide = [](const auto& matrix) {
      return
          [&](int64_t i, int64_t j) { return static_cast<Real>(matrix(i, j)); };
    };
    Product<Real>::compute(m, n, depth, wide(left), wide(right),
                           [&](int64_t i, int64_t j, Real sum) {
                             combine(to(i, j), by, sum, keep);
                           });
  }
};

// How a call's products lie in memory: one, or several a stride apart.
struct Batch {
  int64_t a_stride = 0, b_stride = 0, c_stride = 0, count = 1;
};

template <class T, class U = T, class S = T, class Real = S>
void issue_gemm(const char* call, const cublasContext& handle,
                const Sizes& sizes, const S* alpha, const T* a, const T* b,
                const S* beta, U* c, const Batch& batch) {
  sizes.require_right(batch.count);
  if (sizes.is_nothing(batch.count)) return;
  const Gemm<T, U, S, Real> gemm = {
      sizes, {"alpha", handle, alpha}, {"beta", handle, beta}};
  enqueue(call, handle.device, handle.stream, [=](const Operands& all) {
    for (int64_t i = 0; i < batch.count; ++i)
      gemm.compute(all, a + i * batch.a_stride, b + i * batch.b_stride,
                   c + i * batch.c_stride);
  });
}

template <class T, class Real>
cublasStatus_t gemm(const char* call, cublasHandle_t handle, const Sizes& sizes,
                    const T* alpha, const T* a, const T* b, const T* beta, T* c,
                    const Batch& batch = {}) {
  return answer(
      [&] {
        issue_gemm<T, T, T, Real>(call, get(handle), sizes, alpha, a, b, beta,
                                  c, batch);
      },
      call);
}

// The arrays of pointers lie on the device.
template <class T, class Real>
cublasStatus_t gemm_of_many(const char* call, cublasHandle_t handle,
                            const Sizes& sizes, const T* alpha,
                            const T* const* a, const T* const* b, const T* beta,
                            T* const* c, int count) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        sizes.require_right(count);
        if (sizes.is_nothing(count)) return;
        const Gemm<T, T, T, Real> one = {
            sizes, {"alpha", context, alpha}, {"beta", context, beta}};
        enqueue(call, context.device, context.stream, [=](const Operands& all) {
          const Shape pointers = {1, count, 1};
          const auto as = all.read("Aarray", a, pointers);
          const auto bs = all.read("Barray", b, pointers);
          const auto cs = all.read("Carray", c, pointers);
          for (int64_t i = 0; i < count; ++i)
            one.compute(all, as[i], bs[i], cs[i]);
        });
      },
      call);
}

// ---- Mixed types -----------------------------------------------------------

// A call of cublasGemmEx, before its types are known.
struct Mixed {
  const char* call;
  cublasHandle_t handle;
  Sizes sizes;
  const void *alpha, *a, *b, *beta;
  void* c;
  cudaDataType type_a, type_b, type_c;
  cublasComputeType_t compute;
  Batch batch = {};

  template <class T, class U, class S, class Real = S>
  void issue_as() const {
    issue_gemm<T, U, S, Real>(
        call, get(handle), sizes, static_cast<const S*>(alpha),
        static_cast<const T*>(a), static_cast<const T*>(b),
        static_cast<const S*>(beta), static_cast<U*>(c), batch);
  }
};

enum class Sums { kHalf, kFloat, kDouble, kInteger, kNone };

Sums sums_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return Sums::kHalf;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return Sums::kFloat;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return Sums::kDouble;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return Sums::kInteger;
  }
  return Sums::kNone;
}

struct Types {
  cudaDataType from, to;
  Sums sums;
  void (Mixed::*issue)() const;
};
constexpr Types kMixed[] = {
    {CUDA_R_16F, CUDA_R_16F, Sums::kHalf,
     &Mixed::issue_as<__half, __half, __half, float>},
    {CUDA_R_16F, CUDA_R_16F, Sums::kFloat,
     &Mixed::issue_as<__half, __half, float>},
    {CUDA_R_16F, CUDA_R_32F, Sums::kFloat,
     &Mixed::issue_as<__half, float, float>},
    {CUDA_R_16BF, CUDA_R_16BF, Sums::kFloat,
     &Mixed::issue_as<__nv_bfloat16, __nv_bfloat16, float>},
    {CUDA_R_16BF, CUDA_R_32F, Sums::kFloat,
     &Mixed::issue_as<__nv_bfloat16, float, float>},
    {CUDA_R_32F, CUDA_R_32F, Sums::kFloat,
     &Mixed::issue_as<float, float, float>},
    {CUDA_R_64F, CUDA_R_64F, Sums::kDouble,
     &Mixed::issue_as<double, double, double>},
};

// Types that cuBLAS has and this has not.
bool is_lacking(const Mixed& call, Sums sums) {
  const auto is = [&](cudaDataType a, cudaDataType c) {
    return call.type_a == a && call.type_b == a && call.type_c == c;
  };
  switch (sums) {
    case Sums::kInteger:
      return is(CUDA_R_8I, CUDA_R_32I);
    case Sums::kFloat:
      return is(CUDA_R_8I, CUDA_R_32F) || is(CUDA_C_32F, CUDA_C_32F) ||
             is(CUDA_C_8I, CUDA_C_32F);
    case Sums::kDouble:
      return is(CUDA_C_64F, CUDA_C_64F);
    default:
      return false;
  }
}

cublasStatus_t issue_mixed(const Mixed& call) {
  return answer(
      [&] {
        get(call.handle);
        const Sums sums = sums_of(call.compute);
        for (const Types& types : kMixed)
          if (types.sums == sums && call.type_a == types.from &&
              call.type_b == types.from && call.type_c == types.to)
            return (call.*types.issue)();
        const std::string types =
            text("types ", int(call.type_a), ", ", int(call.type_b), " and ",
                 int(call.type_c), " of cudaDataType with compute type ",
                 int(call.compute));
        if (is_lacking(call, sums)) throw Lacking{types};
        throw Wrong{CUBLAS_STATUS_NOT_SUPPORTED, types};
      },
      call.call);
}

}  // namespace
}  // namespace simt::cublas

using namespace simt::cublas;

extern "C" {

// clang-format off
#define SIMT_CUBLAS_PRODUCTS(S, T, Real)                                       \
  cublasStatus_t cublas##S##gemm(                                              \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,    \
      int ldb, const T* beta, T* c, int ldc) {                                 \
    return gemm<T, Real>(                                                      \
        __func__, handle, {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, a, b,   \
        beta, c);                                                              \
  }                                                                            \
  cublasStatus_t cublas##S##gemmStridedBatched(                                \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* a, int lda,                \
      long long a_stride, const T* b, int ldb, long long b_stride,             \
      const T* beta, T* c, int ldc, long long c_stride, int count) {           \
    return gemm<T, Real>(                                                      \
        __func__, handle, {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, a, b,   \
        beta, c, {a_stride, b_stride, c_stride, count});                       \
  }                                                                            \
  cublasStatus_t cublas##S##gemmBatched(                                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* const* a, int lda,         \
      const T* const* b, int ldb, const T* beta, T* const* c, int ldc,         \
      int count) {                                                             \
    return gemm_of_many<T, Real>(                                              \
        __func__, handle, {op_a, op_b, m, n, k, lda, ldb, ldc}, alpha, a, b,   \
        beta, c, count);                                                       \
  }
SIMT_CUBLAS_PRODUCTS(S, float, float)
SIMT_CUBLAS_PRODUCTS(D, double, double)
SIMT_CUBLAS_PRODUCTS(H, __half, float)
#undef SIMT_CUBLAS_PRODUCTS
// clang-format on

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                            cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta,
                            void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return issue_mixed({__func__,
                      handle,
                      {op_a, op_b, m, n, k, lda, ldb, ldc},
                      alpha,
                      a,
                      b,
                      beta,
                      c,
                      type_a,
                      type_b,
                      type_c,
                      compute});
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
    int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
    int lda, long long a_stride, const void* b, cudaDataType type_b, int ldb,
    long long b_stride, const void* beta, void* c, cudaDataType type_c, int ldc,
    long long c_stride, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return issue_mixed({__func__,
                      handle,
                      {op_a, op_b, m, n, k, lda, ldb, ldc},
                      alpha,
                      a,
                      b,
                      beta,
                      c,
                      type_a,
                      type_b,
                      type_c,
                      compute,
                      {a_stride, b_stride, c_stride, count}});
}

}  // extern "C"
