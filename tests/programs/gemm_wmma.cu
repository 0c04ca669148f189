// Matrices of half multiplied by tensor cores, through wmma: each warp makes a
// 32 x 32 tile of C, from tiles of A and B in shared memory.
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace nvcuda;

constexpr int kTile = 64, kStep = 32, kPad = 8;

__global__ void gemm(const half* a, const half* b, float* c, int n, int k) {
  __shared__ __align__(32) half tile_a[kTile][kStep + kPad];
  __shared__ __align__(32) half tile_b[kStep][kTile + kPad];
  const int warp = threadIdx.x / 32, row = warp / 2 * 32,
            column = warp % 2 * 32;
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum)
    for (auto& one : line) wmma::fill_fragment(one, 0.f);
  for (int step = 0; step < k; step += kStep) {
    for (int i = threadIdx.x; i < kTile * kStep; i += blockDim.x) {
      tile_a[i / kStep][i % kStep] =
          a[(first_row + i / kStep) * k + step + i % kStep];
      tile_b[i / kTile][i % kTile] =
          b[(step + i / kTile) * n + first_column + i % kTile];
    }
    __syncthreads();
    for (int l = 0; l < kStep; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(fa[i], &tile_a[row + 16 * i][l], kStep + kPad);
        wmma::load_matrix_sync(fb[i], &tile_b[l][column + 16 * i],
                               kTile + kPad);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(
          c + (first_row + row + 16 * i) * n + first_column + column + 16 * j,
          sum[i][j], n, wmma::mem_row_major);
}

int main() {
  const int m = 128, n = 192, k = 96;
  std::vector<half> a(m * k), b(k * n);
  for (int i = 0; i < m * k; ++i) a[i] = __float2half(std::sin(i * 0.37f));
  for (int i = 0; i < k * n; ++i) b[i] = __float2half(std::cos(i * 0.11f));
  half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * sizeof(half));
  cudaMalloc(&db, b.size() * sizeof(half));
  cudaMalloc(&dc, m * n * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  gemm<<<dim3(n / kTile, m / kTile), 128>>>(da, db, dc, n, k);
  std::vector<float> c(m * n);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int l = 0; l < k; ++l) {
        const double product = double(__half2float(a[i * k + l])) *
                               double(__half2float(b[l * n + j]));
        sum += product;
        magnitude += std::fabs(product);
      }
      // Six sums of seventeen addends, each cut off below 2^-23.
      wrong += std::fabs(c[i * n + j] - sum) > magnitude * 6 * 17 * 0x1p-24;
    }
  printf("%d x %d x %d: %d wrong\n", m, k, n, wrong);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
