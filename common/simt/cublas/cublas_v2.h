// cuBLAS's interface, as far as the executor has what stands behind it. On a
// GPU programs include NVIDIA's own cublas_v2.h instead.
//
// Matrices lie column by column. `ld` is how far apart columns begin, `step`
// how far apart a vector's elements lie: below zero, the last one comes first.
#pragma once
#define CUBLAS_V2_H_  // By NVIDIA's guards others know whether cuBLAS is there.
#define CUBLAS_API_H_
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

// The version whose rules are kept.
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 1
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VER_BUILD 3
#define CUBLAS_VERSION \
  (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUBLAS_OP_C = 2,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG = 3
} cublasOperation_t;

typedef enum {
  CUBLAS_FILL_MODE_LOWER = 0,
  CUBLAS_FILL_MODE_UPPER = 1
} cublasFillMode_t;

typedef enum {
  CUBLAS_DIAG_NON_UNIT = 0,
  CUBLAS_DIAG_UNIT = 1
} cublasDiagType_t;

typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;

typedef enum {
  CUBLAS_POINTER_MODE_HOST = 0,
  CUBLAS_POINTER_MODE_DEVICE = 1
} cublasPointerMode_t;

typedef enum {
  CUBLAS_ATOMICS_NOT_ALLOWED = 0,
  CUBLAS_ATOMICS_ALLOWED = 1
} cublasAtomicsMode_t;

// All of them are accepted, and all give at least the precision of the default.
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

// Likewise: there is one algorithm.
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO1 = 1,
  CUBLAS_GEMM_ALGO2 = 2,
  CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4,
  CUBLAS_GEMM_ALGO5 = 5,
  CUBLAS_GEMM_ALGO6 = 6,
  CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;

typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

typedef cudaDataType cublasDataType_t;

#ifdef __cplusplus
extern "C" {
#endif

const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// ---- Handles ---------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
// Where scalars and results of one number lie.
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle,
                                    cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle,
                                    cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle,
                                    cublasAtomicsMode_t* mode);
// Nothing here needs it.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace,
                                  size_t bytes);

// ---- Between host and device: `bytes` is an element's ----------------------

cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int x_step,
                               void* y, int y_step);
cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int x_step,
                               void* y, int y_step);
cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* a,
                               int lda, void* b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* a,
                               int lda, void* b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* x, int x_step,
                                    void* y, int y_step, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* x, int x_step,
                                    void* y, int y_step, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes,
                                    const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes,
                                    const void* a, int lda, void* b, int ldb,
                                    cudaStream_t stream);

// ---- What there is for float (S) and double (D) ----------------------------

// clang-format off
#define SIMT_CUBLAS_CALLS(S, s, T)                                             \
  cublasStatus_t cublas##S##axpy(                                              \
      cublasHandle_t handle, int n, const T* alpha, const T* x, int x_step,    \
      T* y, int y_step);                                                       \
  cublasStatus_t cublas##S##dot(                                               \
      cublasHandle_t handle, int n, const T* x, int x_step, const T* y,        \
      int y_step, T* result);                                                  \
  cublasStatus_t cublas##S##nrm2(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* result);        \
  cublasStatus_t cublas##S##asum(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* result);        \
  cublasStatus_t cublasI##s##amax(                                             \
      cublasHandle_t handle, int n, const T* x, int x_step, int* result);      \
  cublasStatus_t cublasI##s##amin(                                             \
      cublasHandle_t handle, int n, const T* x, int x_step, int* result);      \
  cublasStatus_t cublas##S##scal(                                              \
      cublasHandle_t handle, int n, const T* alpha, T* x, int x_step);         \
  cublasStatus_t cublas##S##copy(                                              \
      cublasHandle_t handle, int n, const T* x, int x_step, T* y, int y_step); \
  cublasStatus_t cublas##S##swap(                                              \
      cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step);       \
  cublasStatus_t cublas##S##rot(                                               \
      cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step,        \
      const T* c, const T* sine);                                              \
  cublasStatus_t cublas##S##gemv(                                              \
      cublasHandle_t handle, cublasOperation_t op, int m, int n,               \
      const T* alpha, const T* a, int lda, const T* x, int x_step,             \
      const T* beta, T* y, int y_step);                                        \
  cublasStatus_t cublas##S##ger(                                               \
      cublasHandle_t handle, int m, int n, const T* alpha, const T* x,         \
      int x_step, const T* y, int y_step, T* a, int lda);                      \
  cublasStatus_t cublas##S##trsv(                                              \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,      \
      cublasDiagType_t diagonal, int n, const T* a, int lda, T* x,             \
      int x_step);                                                             \
  cublasStatus_t cublas##S##geam(                                              \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, const T* alpha, const T* a, int lda, const T* beta,        \
      const T* b, int ldb, T* c, int ldc);                                     \
  cublasStatus_t cublas##S##symm(                                              \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,     \
      int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb,  \
      const T* beta, T* c, int ldc);                                           \
  cublasStatus_t cublas##S##syrk(                                              \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,      \
      int n, int k, const T* alpha, const T* a, int lda, const T* beta, T* c,  \
      int ldc);                                                                \
  cublasStatus_t cublas##S##trsm(                                              \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,     \
      cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,           \
      const T* alpha, const T* a, int lda, T* b, int ldb);

// And for half (H), too.
#define SIMT_CUBLAS_PRODUCTS(S, T)                                             \
  cublasStatus_t cublas##S##gemm(                                              \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,    \
      int ldb, const T* beta, T* c, int ldc);                                  \
  cublasStatus_t cublas##S##gemmStridedBatched(                                \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* a, int lda,                \
      long long a_stride, const T* b, int ldb, long long b_stride,             \
      const T* beta, T* c, int ldc, long long c_stride, int count);            \
  cublasStatus_t cublas##S##gemmBatched(                                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,   \
      int m, int n, int k, const T* alpha, const T* const* a, int lda,         \
      const T* const* b, int ldb, const T* beta, T* const* c, int ldc,         \
      int count);
// clang-format on

SIMT_CUBLAS_CALLS(S, s, float)
SIMT_CUBLAS_CALLS(D, d, double)
SIMT_CUBLAS_PRODUCTS(S, float)
SIMT_CUBLAS_PRODUCTS(D, double)
SIMT_CUBLAS_PRODUCTS(H, __half)
#undef SIMT_CUBLAS_CALLS
#undef SIMT_CUBLAS_PRODUCTS

// ---- Products of mixed types -----------------------------------------------

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                            cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta,
                            void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
    int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
    int lda, long long a_stride, const void* b, cudaDataType type_b, int ldb,
    long long b_stride, const void* beta, void* c, cudaDataType type_c, int ldc,
    long long c_stride, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}
#endif
