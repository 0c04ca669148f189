// How far from the exact sum is a sum of n floats, by the order of addition?
// Each lane of one warp adds up numbers of its own: 32 samples of the error.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

const int kSeries = 32;
const int kTileLog = 11;
const int kTile = 1 << kTileLog;  // What a block adds up by a tree.
const double kUnit = 0x1p-24;

// A multiple of 2^-24 in [0, 1), so that integers can tell the exact sum.
__host__ __device__ uint32_t units(uint32_t series, uint32_t i) {
  uint32_t h = (i * kSeries + series) * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return (h ^ h >> 16) >> 8;
}

__device__ float element(uint32_t i) {
  return static_cast<float>(units(threadIdx.x, i)) * 0x1p-24f;
}

// x[0] + x[1], + x[2], + x[3], ...
__global__ void one_by_one(float* sums, uint32_t n) {
  float sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += element(i);
  sums[threadIdx.x] = sum;
}

// Neighbours, then pairs, then fours: a sum goes up a level when a second of
// its size is there. n is a power of two.
__device__ float tree_sum(uint32_t first, uint32_t n) {
  float waiting[32], sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    sum = element(first + i);
    int level = 0;
    for (; i >> level & 1; ++level) sum = waiting[level] + sum;
    waiting[level] = sum;
  }
  return sum;
}

// Blocks that end in an atomicAdd: each adds up its tile by a tree, and the
// tiles' sums go one by one into the result, here in the order of the tiles.
__global__ void tree_a_block(float* sums, uint32_t n) {
  float sum = 0;
  for (uint32_t first = 0; first < n; first += kTile)
    sum += tree_sum(first, n < kTile ? n : kTile);
  sums[threadIdx.x] = sum;
}

__global__ void tree(float* sums, uint32_t n) {
  sums[threadIdx.x] = tree_sum(0, n);
}

// The root mean square of the relative errors, in units of 2^-24.
template <class Kernel>
double error(Kernel kernel, uint32_t n) {
  float *device_sums, sums[kSeries];
  cudaMalloc(&device_sums, sizeof sums);
  kernel<<<1, kSeries>>>(device_sums, n);
  cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(device_sums);
  double squares = 0;
  for (int s = 0; s < kSeries; ++s) {
    int64_t exact = 0;
    for (uint32_t i = 0; i < n; ++i) exact += units(s, i);
    const double units_off = sums[s] / kUnit - static_cast<double>(exact);
    const double relative = units_off / static_cast<double>(exact) / kUnit;
    squares += relative * relative;
  }
  return std::sqrt(squares / kSeries);
}

// No error exceeds a unit for each rounding between an element and the result.
bool print(double error, uint32_t roundings) {
  printf("  %8.2f of %7u", error, roundings);
  return error <= roundings;
}

int main() {
  printf("        n          one by one");
  printf("      a tree a block              a tree\n");
  bool right = true;
  for (uint32_t log = 8; log <= 20; log += 2) {
    const uint32_t n = 1u << log;
    printf("%9u", n);
    right &= print(error(one_by_one, n), n - 1);
    right &= print(error(tree_a_block, n),
                   n <= kTile ? log : kTileLog + n / kTile - 1);
    right &= print(error(tree, n), log);
    printf("\n");
  }
  return !right;
}
