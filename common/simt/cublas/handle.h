// cuBLAS's handles, how its calls answer, and their scalars.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "common/simt/cublas/cublas_v2.h"
#include "common/simt/library/answers.h"
#include "common/simt/library/library.h"

struct cublasContext {
  int device = simt::current_device();
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace simt::cublas {

template <class... Part>
void require_value(bool holds, const Part&... why) {
  require_status(holds, CUBLAS_STATUS_INVALID_VALUE, why...);
}

// The handle, if it is one.
cublasContext& get(cublasHandle_t handle);

template <class Body>
cublasStatus_t answer(Body body, const char* call = __builtin_FUNCTION()) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto tell = [&](const auto& wrong) {
    complain(call, text(wrong.why, " (", cublasGetStatusName(status), ')'));
  };
  switch (simt::answer(refusing(status, body, tell), call)) {
    case cudaSuccess:
      return status;
    case cudaErrorNotSupported:
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case cudaErrorStreamCaptureUnsupported:
      return CUBLAS_STATUS_INTERNAL_ERROR;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

// One number that the caller gives: by value, or in memory of the device.
template <class T>
class Scalar {
 public:
  Scalar(const char* name, const cublasContext& handle, const T* at)
      : name_(name), at_(at) {
    require_value(at != nullptr, name, " is null");
    if (handle.pointers == CUBLAS_POINTER_MODE_HOST) value_ = *at;
  }
  T get(const Operands& operands) const {
    return value_ ? *value_ : *operands.read(name_, at_, {});
  }

 private:
  const char* name_;
  const T* at_;
  std::optional<T> value_;
};

// Elements of a vector, in order.
template <class T>
class Vector {
 public:
  Vector(T* first, int64_t n, int64_t step)
      : first_(step < 0 ? first - (n - 1) * step : first), step_(step) {}
  T& operator[](int64_t i) const { return first_[i * step_]; }

 private:
  T* first_;
  int64_t step_;
};

inline Shape shape_of_vector(int64_t n, int64_t step) {
  if (step == 0) return {1, n > 0 ? 1 : 0, 1};  // All are the same one.
  return {1, n, step < 0 ? -step : step};
}

// A matrix that lies column by column.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t ld = 0;
  bool is_transposed = false;

  T& operator()(int64_t row, int64_t column) const {
    return is_transposed ? data[column + row * ld] : data[row + column * ld];
  }
};

// What C begins as does not matter where it counts nothing: it may be NaN, or
// nothing that anybody wrote.
template <class U, class Real>
void combine(U& c, Real alpha, Real sum, Real beta) {
  const Real rest = beta == 0 ? Real(0) : beta * static_cast<Real>(c);
  c = static_cast<U>(std::fma(alpha, sum, rest));
}

inline bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

inline void require_leading(const char* name, int64_t ld, int64_t rows) {
  require_value(ld >= std::max<int64_t>(1, rows), name, " = ", ld,
                ", and columns have ", rows, " elements");
}

}  // namespace simt::cublas
