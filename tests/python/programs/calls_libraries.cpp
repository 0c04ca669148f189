// It calls cuBLAS and cuRAND.
#include <cublas_v2.h>
#include <curand.h>

int main() {
  cublasHandle_t blas;
  curandGenerator_t random;
  return cublasCreate(&blas) +
         curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);
}
