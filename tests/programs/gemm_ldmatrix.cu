// Matrices of half multiplied by tensor cores, through ldmatrix and mma.sync.
// The 16-byte packs of a row in shared memory change places (a swizzle), so
// that no two rows that ldmatrix loads at once meet in a bank. The last tile
// goes back through stmatrix.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kTile = 64, kPacks = kTile / 8;  // halves, and packs, of a row

// Where a pack is: row by row, but for the exchange.
__device__ int place(int row, int pack) {
  return (row * kPacks + (pack ^ row % kPacks)) * 8;
}

__device__ uint32_t shared_address(const half* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Four matrices of 8 x 8, a row of them from each lane; the second as columns.
__device__ void load(uint32_t (&r)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ void load_columns(uint32_t (&r)[4], const half* row) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(shared_address(row))
      : "memory");
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ uint32_t pack(float low, float high) {
  const half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&both);
}

// Four warps, each with 16 rows of the tile.
__global__ void gemm(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(128) half tile_a[kTile * kTile], tile_b[kTile * kTile];
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  float sum[8][4] = {};
  for (int step = 0; step < k; step += kTile) {
    for (int i = threadIdx.x; i < kTile * kPacks; i += blockDim.x) {
      const int r = i / kPacks, p = i % kPacks;
      *reinterpret_cast<uint4*>(tile_a + place(r, p)) =
          *reinterpret_cast<const uint4*>(a + (first_row + r) * k + step +
                                          8 * p);
      *reinterpret_cast<uint4*>(tile_b + place(r, p)) =
          *reinterpret_cast<const uint4*>(b + (step + r) * n + first_column +
                                          8 * p);
    }
    __syncthreads();
    for (int l = 0; l < kTile; l += 16) {
      uint32_t fa[4];
      load(fa, tile_a + place(row + lane % 16, l / 8 + lane / 16));
      for (int j = 0; j < 4; ++j) {  // 16 columns at a time
        uint32_t fb[4];
        load_columns(fb, tile_b + place(l + lane % 16, 2 * j + lane / 16));
        multiply(sum[2 * j], fa, fb[0], fb[1]);
        multiply(sum[2 * j + 1], fa, fb[2], fb[3]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    const float(&left)[4] = sum[2 * j], (&right)[4] = sum[2 * j + 1];
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
            shared_address(tile_a + place(row + lane % 16, 2 * j + lane / 16))),
        "r"(pack(left[0], left[1])), "r"(pack(left[2], left[3])),
        "r"(pack(right[0], right[1])), "r"(pack(right[2], right[3]))
        : "memory");
  }
  __syncwarp();
  for (int i = lane; i < 16 * kPacks; i += 32) {
    const int r = row + i / kPacks, p = i % kPacks;
    *reinterpret_cast<uint4*>(c + (first_row + r) * n + first_column + 8 * p) =
        *reinterpret_cast<const uint4*>(tile_a + place(r, p));
  }
}

int main() {
  const int m = 128, n = 192, k = 128;
  std::vector<half> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = __float2half(std::sin(i * 0.37f));
  for (int i = 0; i < k * n; ++i) b[i] = __float2half(std::cos(i * 0.11f));
  half *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(half));
  cudaMalloc(&db, b.size() * sizeof(half));
  cudaMalloc(&dc, c.size() * sizeof(half));
  cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  gemm<<<dim3(n / kTile, m / kTile), 128>>>(da, db, dc, n, k);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(half), cudaMemcpyDeviceToHost);
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
      // Eight sums of seventeen addends, each cut off, and the rounding to
      // half.
      const double error =
          magnitude * 8 * 17 * 0x1p-24 + std::fabs(sum) * 0x1p-11;
      wrong += std::fabs(double(__half2float(c[i * n + j])) - sum) > error;
    }
  printf("%d x %d x %d: %d wrong\n", m, k, n, wrong);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
