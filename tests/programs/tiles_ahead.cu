// Multiplies matrices tile by tile, in the ways of the CUDA guide's chapters on
// asynchronous copies: while a tile is used, the next ones are on their way.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

constexpr int kTile = 16, kStages = 3;

struct Tiles {
  float a[kStages][kTile][kTile], b[kStages][kTile][kTile];
};

__device__ float dot(const Tiles& tiles, int stage) {
  float sum = 0;
  for (int k = 0; k < kTile; ++k)
    sum += tiles.a[stage][threadIdx.y][k] * tiles.b[stage][k][threadIdx.x];
  return sum;
}

// Where tile `t` of the row's and of the column's begins for this thread.
__device__ const float* of_a(const float* a, int n, int t) {
  return a + (blockIdx.y * kTile + threadIdx.y) * n + t * kTile + threadIdx.x;
}
__device__ const float* of_b(const float* b, int n, int t) {
  return b + (t * kTile + threadIdx.y) * n + blockIdx.x * kTile + threadIdx.x;
}
__device__ float& of_c(float* c, int n) {
  return c[(blockIdx.y * kTile + threadIdx.y) * n + blockIdx.x * kTile +
           threadIdx.x];
}

// Each thread waits for its own copies, and then for the others.
__global__ void by_threads(const float* a, const float* b, float* c, int n) {
  __shared__ Tiles tiles;
  auto pipe = cuda::make_pipeline();
  const int count = n / kTile, x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int t = 0, ahead = 0; t < count; ++t) {
    for (; ahead < t + kStages; ++ahead) {
      pipe.producer_acquire();
      if (ahead < count) {
        const int s = ahead % kStages;
        cuda::memcpy_async(&tiles.a[s][y][x], of_a(a, n, ahead), 4, pipe);
        cuda::memcpy_async(&tiles.b[s][y][x], of_b(b, n, ahead), 4, pipe);
      }
      pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<kStages - 1>(pipe);
    __syncthreads();
    sum += dot(tiles, t % kStages);
    pipe.consumer_release();
    __syncthreads();
  }
  of_c(c, n) = sum;
}

// The block has a pipeline together.
__global__ void by_block(const float* a, const float* b, float* c, int n) {
  __shared__ Tiles tiles;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages>
      state;
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
  const int count = n / kTile, x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int t = 0, ahead = 0; t < count; ++t) {
    for (; ahead < count && ahead < t + kStages; ++ahead) {
      const int s = ahead % kStages;
      pipe.producer_acquire();
      cuda::memcpy_async(&tiles.a[s][y][x], of_a(a, n, ahead), 4, pipe);
      cuda::memcpy_async(&tiles.b[s][y][x], of_b(b, n, ahead), 4, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += dot(tiles, t % kStages);
    pipe.consumer_release();
  }
  of_c(c, n) = sum;
}

// A barrier for each stage; rows of four numbers are copied at once.
__global__ void by_barriers(const float* a, const float* b, float* c, int n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) Tiles tiles;
  __shared__ Barrier bars[kStages];
  const int count = n / kTile, i = threadIdx.y * kTile + threadIdx.x;
  if (i < kStages) init(&bars[i], kTile * kTile);
  __syncthreads();
  const auto copy = [&](int t) {
    const int s = t % kStages, row = i / 4, part = i % 4 * 4;
    if (row < kTile) {
      const float* from = a + (blockIdx.y * kTile + row) * n + t * kTile + part;
      cuda::memcpy_async(&tiles.a[s][row][part], from,
                         cuda::aligned_size_t<16>(16), bars[s]);
    } else if (row < 2 * kTile) {
      const float* from =
          b + (t * kTile + row - kTile) * n + blockIdx.x * kTile + part;
      cuda::memcpy_async(&tiles.b[s][row - kTile][part], from,
                         cuda::aligned_size_t<16>(16), bars[s]);
    }
  };
  float sum = 0;
  for (int t = 0; t < kStages - 1 && t < count; ++t) copy(t);
  for (int t = 0; t < count; ++t) {
    bars[t % kStages].arrive_and_wait();
    sum += dot(tiles, t % kStages);
    // All have arrived for this tile, and so are done with the one before.
    if (t + kStages - 1 < count) copy(t + kStages - 1);
  }
  of_c(c, n) = sum;
}

template <class Kernel>
void check(const char* name, Kernel* kernel) {
  constexpr int n = 96;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int k = 0; k < n * n; ++k) {
    a[k] = static_cast<float>(k % 7 - 3);
    b[k] = static_cast<float>(k % 5 - 2);
  }
  float *x, *y, *z;
  const size_t bytes = n * n * sizeof(float);
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMalloc(&z, bytes);
  cudaMemcpy(x, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y, b.data(), bytes, cudaMemcpyHostToDevice);
  kernel<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(x, y, z, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(c.data(), z, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      wrong += c[row * n + column] != sum;
    }
  std::printf("%s: %s, %d wrong\n", name, cudaGetErrorName(error), wrong);
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
}

int main() {
  check("by threads", by_threads);
  check("by block", by_block);
  check("by barriers", by_barriers);
  return 0;
}
