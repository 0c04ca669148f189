// finds: nothing
// A matrix product by tensor cores: the tile in shared memory is refilled when
// both warps have loaded their matrices from it.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

#include "common/check.h"

namespace wmma = nvcuda::wmma;

constexpr int kSide = 16, kTiles = 4;

__global__ void multiply(const half* a, const half* b, float* d) {
  __shared__ alignas(32) half tile[2][kSide * kSide];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int t = 0; t < kTiles; ++t) {
    for (int i = threadIdx.x; i < kSide * kSide; i += blockDim.x) {
      tile[0][i] = a[t * kSide * kSide + i];
      tile[1][i] = b[t * kSide * kSide + i];
    }
    __syncthreads();
    wmma::load_matrix_sync(left, tile[0], kSide);
    wmma::load_matrix_sync(right, tile[1], kSide);
    wmma::mma_sync(sum, left, right, sum);
    __syncthreads();
  }
  float* mine = d + threadIdx.x / 32 * kSide * kSide;
  wmma::store_matrix_sync(mine, sum, kSide, wmma::mem_row_major);
}

int main() {
  const size_t bytes = kTiles * kSide * kSide * sizeof(half);
  half *a, *b;
  float* d;
  CUDA_CHECK(cudaMalloc(&a, bytes));
  CUDA_CHECK(cudaMalloc(&b, bytes));
  CUDA_CHECK(cudaMalloc(&d, 2 * kSide * kSide * sizeof(float)));
  CUDA_CHECK(cudaMemset(a, 0, bytes));
  CUDA_CHECK(cudaMemset(b, 0, bytes));
  multiply<<<1, 64>>>(a, b, d);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  std::puts("done");
}
