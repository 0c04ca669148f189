// The first dimension of Sobol's numbers: van der Corput's, in Gray code.
#include <curand.h>
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>

#include <cstdio>
__global__ void sobol_kernel(const curandDirectionVectors32_t* vectors,
                             unsigned* y) {
  curandStateSobol32 state;
  curand_init(const_cast<unsigned*>(vectors[0]), threadIdx.x, &state);
  y[threadIdx.x] = curand(&state);
}
int main() {
  curandDirectionVectors32_t *tables, *vectors;
  unsigned *y, printed[4];
  if (curandGetDirectionVectors32(&tables, CURAND_DIRECTION_VECTORS_32_JOEKUO6))
    return 2;
  cudaMalloc(&vectors, sizeof *vectors);
  cudaMalloc(&y, sizeof printed);
  cudaMemcpy(vectors, tables, sizeof *vectors, cudaMemcpyDefault);
  sobol_kernel<<<1, 4>>>(vectors, y);
  cudaMemcpy(printed, y, sizeof printed, cudaMemcpyDefault);
  printf("%u %u %u %u\n", printed[0], printed[1], printed[2], printed[3]);
}
