// cuBLAS's handles, and what moves arrays between host and device.
#include "common/simt/cublas/handle.h"

#include <mutex>
#include <set>

namespace simt::cublas {
namespace {

struct Status {
  cublasStatus_t code;
  const char *name, *sentence;
};
constexpr Status kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED",
     "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR",
     "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality requested is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
     "the license check failed"},
};

constexpr char kUnknown[] = "unrecognized status";

const Status* find(cublasStatus_t code) {
  for (const Status& status : kStatuses)
    if (status.code == code) return &status;
  return nullptr;
}

struct Everything {
  std::mutex mutex;
  std::set<cublasHandle_t> handles;
};
Everything& everything() {
  static auto* one = new Everything;
  return *one;
}

template <class T>
cublasStatus_t set_one_of(std::initializer_list<T> known, cublasHandle_t handle,
                          T cublasContext::*member, T value, const char* call) {
  return answer(
      [&] {
        cublasContext& context = get(handle);
        require_value(
            std::find(known.begin(), known.end(), value) != known.end(),
            "unknown mode ", int(value));
        context.*member = value;
      },
      call);
}
template <class T>
cublasStatus_t tell_of(cublasHandle_t handle, T cublasContext::*member, T* to,
                       const char* call) {
  return answer(
      [&] {
        const cublasContext& context = get(handle);
        require_value(to != nullptr, "the pointer to the result is null");
        *to = context.*member;
      },
      call);
}

// Copies elements as cudaMemcpy2D would copy rows, in the stream if there is
// one.
struct Copy {
  cudaMemcpyKind kind;
  std::optional<cudaStream_t> stream = {};
};

void copy_rows(const Copy& how, void* to, size_t to_pitch, const void* from,
               size_t from_pitch, size_t width, size_t height) {
  const cudaError_t error =
      how.stream ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width,
                                     height, how.kind, *how.stream)
                 : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height,
                                how.kind);
  require_status(error == cudaSuccess, CUBLAS_STATUS_MAPPING_ERROR,
                 "the copy failed: ", cudaGetErrorName(error));
}

cublasStatus_t copy_vector(const Copy& how, int n, int bytes, const void* x,
                           int x_step, void* y, int y_step, const char* call) {
  return answer(
      [&] {
        if (n == 0) return;
        require_status(n > 0, CUBLAS_STATUS_MAPPING_ERROR, "n = ", n);
        require_value(bytes > 0, "elements of ", bytes, " bytes");
        require_value(x_step > 0 && y_step > 0, "increments of ", x_step,
                      " and ", y_step);
        copy_rows(how, y, size_t(y_step) * bytes, x, size_t(x_step) * bytes,
                  bytes, n);
      },
      call);
}

cublasStatus_t copy_matrix(const Copy& how, int rows, int columns, int bytes,
                           const void* a, int lda, void* b, int ldb,
                           const char* call) {
  return answer(
      [&] {
        if (rows == 0 || columns == 0) return;
        require_value(rows > 0 && columns > 0, rows, " x ", columns,
                      " elements");
        require_value(bytes > 0, "elements of ", bytes, " bytes");
        require_status(lda >= rows && ldb >= rows, CUBLAS_STATUS_MAPPING_ERROR,
                       "columns of ", rows, " elements that begin ", lda,
                       " and ", ldb, " apart");
        copy_rows(how, b, size_t(ldb) * bytes, a, size_t(lda) * bytes,
                  size_t(rows) * bytes, columns);
      },
      call);
}

}  // namespace

cublasContext& get(cublasHandle_t handle) {
  const std::lock_guard lock(everything().mutex);
  require_status(everything().handles.contains(handle),
                 CUBLAS_STATUS_NOT_INITIALIZED, handle,
                 " is no handle, or one that was destroyed");
  return *handle;
}

}  // namespace simt::cublas

using namespace simt::cublas;

extern "C" {

const char* cublasGetStatusName(cublasStatus_t status) {
  const Status* const found = find(status);
  return found ? found->name : kUnknown;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  const Status* const found = find(status);
  return found ? found->sentence : kUnknown;
}

// ---- Handles ---------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  return answer([&] {
    require_value(handle != nullptr, "handle is null");
    *handle = new cublasContext;
    const std::lock_guard lock(everything().mutex);
    everything().handles.insert(*handle);
  });
}

// What it still has to do is done before.
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return answer([&] {
    simt::await_device(get(handle).device);
    const std::lock_guard lock(everything().mutex);
    everything().handles.erase(handle);
    delete handle;
  });
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  return answer([&] {
    require_value(version != nullptr, "version is null");
    *version = CUBLAS_VERSION;
  });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return answer([&] {
    constexpr int kParts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR,
                              CUBLAS_VER_PATCH};
    require_value(value != nullptr, "value is null");
    require_value(type >= MAJOR_VERSION && type <= PATCH_LEVEL, "type ",
                  int(type), " is none of the library's properties");
    *value = kParts[type];
  });
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return answer([&] {
    cublasContext& context = get(handle);
    simt::require_stream(stream);
    context.stream = stream;
  });
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return tell_of(handle, &cublasContext::stream, stream, __func__);
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t mode) {
  return set_one_of({CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE},
                    handle, &cublasContext::pointers, mode, __func__);
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t* mode) {
  return tell_of(handle, &cublasContext::pointers, mode, __func__);
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set_one_of({CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH,
                     CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH,
                     CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION},
                    handle, &cublasContext::math, mode, __func__);
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return tell_of(handle, &cublasContext::math, mode, __func__);
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle,
                                    cublasAtomicsMode_t mode) {
  return set_one_of({CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED},
                    handle, &cublasContext::atomics, mode, __func__);
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle,
                                    cublasAtomicsMode_t* mode) {
  return tell_of(handle, &cublasContext::atomics, mode, __func__);
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
  return answer([&] { get(handle); });
}

// ---- Between host and device -----------------------------------------------

cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int x_step,
                               void* y, int y_step) {
  return copy_vector({cudaMemcpyHostToDevice}, n, bytes, x, x_step, y, y_step,
                     __func__);
}

cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int x_step,
                               void* y, int y_step) {
  return copy_vector({cudaMemcpyDeviceToHost}, n, bytes, x, x_step, y, y_step,
                     __func__);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* a,
                               int lda, void* b, int ldb) {
  return copy_matrix({cudaMemcpyHostToDevice}, rows, columns, bytes, a, lda, b,
                     ldb, __func__);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* a,
                               int lda, void* b, int ldb) {
  return copy_matrix({cudaMemcpyDeviceToHost}, rows, columns, bytes, a, lda, b,
                     ldb, __func__);
}

cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* x, int x_step,
                                    void* y, int y_step, cudaStream_t stream) {
  return copy_vector({cudaMemcpyHostToDevice, stream}, n, bytes, x, x_step, y,
                     y_step, __func__);
}

cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* x, int x_step,
                                    void* y, int y_step, cudaStream_t stream) {
  return copy_vector({cudaMemcpyDeviceToHost, stream}, n, bytes, x, x_step, y,
                     y_step, __func__);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes,
                                    const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream) {
  return copy_matrix({cudaMemcpyHostToDevice, stream}, rows, columns, bytes, a,
                     lda, b, ldb, __func__);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes,
                                    const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream) {
  return copy_matrix({cudaMemcpyDeviceToHost, stream}, rows, columns, bytes, a,
                     lda, b, ldb, __func__);
}

}  // extern "C"
