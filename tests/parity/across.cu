// Loads from shared memory that ptxas makes one of across branches: all that
// come behind one of them, and nothing else.
#include <vector>

#include "common/check.h"

namespace {

constexpr int kBlock = 128, kLength = 1 << 14;

// Four words for each thread, whose addresses are multiples of 16.
struct Tile {
  float words[4 * kBlock];
};

__device__ float* fill(Tile& tile, const float* x) {
  for (int k = 0; k < 4; ++k)
    tile.words[threadIdx.x + k * kBlock] = x[threadIdx.x + k * kBlock];
  __syncthreads();
  return tile.words + 4 * threadIdx.x;
}

// What the compiler must not know to be still what it was.
__device__ void forget() { asm volatile("" ::: "memory"); }

__global__ void store_between(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  if (a < x[m]) y[threadIdx.x + n] = a;
  y[threadIdx.x] = a * mine[1];
}

__global__ void one_on_a_side(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  float b = 2.f;
  if (a < x[m]) b = mine[1] + x[n];
  y[threadIdx.x] = a * b;
}

__global__ void both_sides(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  float b = 0.f;
  if (x[m] > 3.f) {
    atomicAdd(&y[n], a);
    b = mine[1];
  } else {
    atomicAdd(&y[m], 3.f);
    b = mine[2];
  }
  y[threadIdx.x] = a * b + mine[3];
}

__global__ void sides_alone(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  float a = x[n];
  if (static_cast<int>(threadIdx.x) < m) a += mine[0] * 3.f;
  a += mine[1];
  if (a > 500.f) a += mine[2];
  y[threadIdx.x] = a * mine[3];
}

__global__ void atomic_between(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  if (a > x[m]) atomicAdd(&y[n], a);
  y[threadIdx.x] = a + mine[1];
}

__global__ void loop_between(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  float b = 0.f;
#pragma unroll 1
  for (int k = 0; k < n % 7; ++k) b += x[k * m];
  y[threadIdx.x] = a * b + mine[1];
}

__global__ void shared_store_between(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  float* mine = fill(tile, x);
  const float a = mine[0];
  if (a > x[m]) mine[n % 2] = a;
  y[threadIdx.x] = a + mine[1];
}

__global__ void warp_barrier_between(const float* x, float* y, int, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0] * x[m];
  __syncwarp();
  y[threadIdx.x] = a + mine[1];
}

__global__ void exit_between(const float* x, float* y, int, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = mine[0];
  if (a > x[m]) return;
  y[threadIdx.x] = a + mine[1];
}

__global__ void cases(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  float a = mine[0];
  switch (threadIdx.x / 32 % 4) {
    case 0:
      a += x[n];
      break;
    case 1:
      atomicAdd(&y[n], a);
      break;
    case 2:
      a += mine[1];
      break;
    default:
      a = expf(a) * x[m];
  }
  y[threadIdx.x] = a * mine[3];
}

__global__ void every_fourth_of_a_loop(const float* x, float* y, int, int m) {
  __shared__ Tile tile;
  fill(tile, x);
  float a = x[m + threadIdx.x];
  for (int k = 0; k < kBlock; ++k)
    if (tile.words[k] > a) a += x[k];
  y[threadIdx.x] = a;
}

__global__ void ranks(const float* x, float* y, int n, int) {
  __shared__ Tile tile;
  fill(tile, x);
  const float mine = x[threadIdx.x + n];
  int rank = 0;
  for (int k = 0; k < kBlock; ++k) {
    const float other = tile.words[k];
    rank += other < mine || (other == mine && k < n);
  }
  y[threadIdx.x] = static_cast<float>(rank);
}

// ---- The same again ---------------------------------------------------------

__global__ void again(const float* x, float* y, int n, int m) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  float a = mine[0];
  if (a > x[m]) {
    atomicAdd(&y[n], a);
    forget();
    a += mine[0] * 3.f;
  }
  y[threadIdx.x] = a;
}

__global__ void again_behind_a_shuffle(const float* x, float* y, int, int) {
  __shared__ Tile tile;
  const float* mine = fill(tile, x);
  const float a = __shfl_xor_sync(~0u, mine[0], 1);
  forget();
  y[threadIdx.x] = a + mine[0];
}

__global__ void part_of_it_again(const float* x, float* y, int, int) {
  __shared__ Tile tile;
  const auto* mine = reinterpret_cast<const float4*>(fill(tile, x));
  const float4 a = *mine;
  forget();
  const auto* words = reinterpret_cast<const float*>(mine);
  y[threadIdx.x] = a.x * a.y + a.z * a.w + words[0] * words[1];
}

}  // namespace

int main() {
  float *x = nullptr, *y = nullptr;
  CUDA_CHECK(cudaMalloc(&x, kLength * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y, kLength * sizeof(float)));
  std::vector<float> many(kLength);
  for (int i = 0; i < kLength; ++i)
    many[i] = static_cast<float>(i * 2654435761u >> 20);
  CUDA_CHECK(cudaMemcpy(x, many.data(), kLength * sizeof(float),
                        cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(y, 0, kLength * sizeof(float)));
  for (const auto kernel :
       {store_between, one_on_a_side, both_sides, sides_alone, atomic_between,
        loop_between, shared_store_between, warp_barrier_between, exit_between,
        cases, every_fourth_of_a_loop, ranks, again, again_behind_a_shuffle,
        part_of_it_again})
    kernel<<<4, kBlock>>>(x, y, 300, 460);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
