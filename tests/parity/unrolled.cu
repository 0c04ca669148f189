// Loops that nvcc has unrolled by four and ptxas unrolls again, and others that
// count in every way; lanes make different numbers of turns.
#include <cstdint>
#include <vector>

#include "common/check.h"

namespace {

constexpr int kBlock = 128, kLength = 1 << 14;

__device__ int thread() { return blockIdx.x * kBlock + threadIdx.x; }

// What a turn does, with number k of an array x.
struct Load {
  const float* x;
  __device__ float operator()(float sum, int k) const { return sum + x[k]; }
};
struct TwoLoads {
  const float* x;
  __device__ float operator()(float sum, int k) const {
    return sum + x[k] * x[k + kBlock];
  }
};
struct FourLoads {
  const float* x;
  __device__ float operator()(float sum, int k) const {
    return sum + x[k] * x[k + 90] + x[k + 180] * x[k + 270];
  }
};
struct Gather {
  const float* x;
  const int* at;
  __device__ float operator()(float sum, int k) const { return sum + x[at[k]]; }
};
struct Volatile {
  const volatile float* x;
  __device__ float operator()(float sum, int k) const { return sum + x[k]; }
};
struct Compute {
  float factor;
  __device__ float operator()(float sum, int) const {
    return sum * factor + 1.f;
  }
};
struct Copy {
  const float* x;
  float* y;
  __device__ float operator()(float sum, int k) const {
    y[k * kLength / 64 + thread()] = x[k] + 1.f;
    return sum;
  }
};
struct Increment {
  float* y;
  __device__ float operator()(float sum, int) const {
    y[thread()] += sum;
    return sum;
  }
};
struct LoadIf {
  const float* x;
  __device__ float operator()(float sum, int k) const {
    if (k % 3 == 0) sum += x[k];
    return sum;
  }
};

// How many turns each makes: 0 to 40.
__device__ int turns_of(const int* n) { return n[thread()] % 41; }

template <class Turn>
__global__ void up(Turn turn, const int* n, float* out) {
  const int turns = turns_of(n);
  float sum = 0.f;
  for (int k = 0; k < turns; ++k) sum = turn(sum, k);
  out[thread()] = sum;
}

template <class Turn>
__global__ void down(Turn turn, const int* n, float* out) {
  float sum = 0.f;
  for (int k = turns_of(n); k > 0; --k) sum = turn(sum, k);
  out[thread()] = sum;
}

template <class Turn>
__global__ void wide(Turn turn, const int* n, float* out) {
  const size_t turns = turns_of(n);
  float sum = 0.f;
  for (size_t k = 0; k < turns; ++k) sum = turn(sum, static_cast<int>(k));
  out[thread()] = sum;
}

// Those that nvcc leaves to ptxas: four turns, two, one, and one before them
// where the counter has no sign.
template <class Int, class Turn>
__global__ void once(Turn turn, const int* n, float* out) {
  const Int turns = turns_of(n);
  float sum = 0.f;
  Int k = 0;
  if (turns > 0) {
#pragma unroll 1
    do {
      sum = turn(sum, static_cast<int>(k));
      k += 1;
    } while (k < turns);
  }
  out[thread()] = sum;
}

__global__ void in_shared(const int* n, float* out) {
  __shared__ float tile[kBlock];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  const int turns = turns_of(n);
  float sum = 0.f;
  for (int k = 0; k < turns; ++k) sum += tile[k] * tile[threadIdx.x ^ k];
  out[thread()] = sum;
}

__global__ void rows(const float* x, const int* n, float* out) {
  const int first = thread() * 3, end = first + turns_of(n);
  float sum = 0.f;
  for (int k = first; k < end; ++k) sum += x[k];
  out[thread()] = sum;
}

template <class Turn>
void every_way(Turn turn, const int* n, float* out) {
  up<<<2, kBlock>>>(turn, n, out);
  down<<<2, kBlock>>>(turn, n, out);
  wide<<<2, kBlock>>>(turn, n, out);
  once<int><<<2, kBlock>>>(turn, n, out);
  once<unsigned><<<2, kBlock>>>(turn, n, out);
  once<int64_t><<<2, kBlock>>>(turn, n, out);
}

}  // namespace

int main() {
  int* n = nullptr;
  float *x = nullptr, *out = nullptr;
  CUDA_CHECK(cudaMalloc(&n, kLength * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&x, kLength * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&out, kLength * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, kLength * sizeof(float)));
  CUDA_CHECK(cudaMemset(out, 0, kLength * sizeof(float)));
  std::vector<int> many(kLength);
  for (int i = 0; i < kLength; ++i)
    many[i] = static_cast<int>(i * 2654435761u >> 18);
  CUDA_CHECK(cudaMemcpy(n, many.data(), kLength * sizeof(int),
                        cudaMemcpyHostToDevice));
  every_way(Load{x}, n, out);
  every_way(TwoLoads{x}, n, out);
  every_way(FourLoads{x}, n, out);
  every_way(Gather{x, n}, n, out);
  every_way(Volatile{x}, n, out);
  every_way(Compute{.5f}, n, out);
  every_way(Copy{x, out}, n, out);
  every_way(Increment{out}, n, out);
  every_way(LoadIf{x}, n, out);
  in_shared<<<2, kBlock>>>(n, out);
  rows<<<2, kBlock>>>(x, n, out);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
