// Short branches: which of them ptxas makes predicates depends on what is near.
#include <vector>

#include "common/check.h"

namespace {

constexpr int kBlock = 128, kLength = 1 << 14;
constexpr unsigned kAll = 0xffffffff;

__device__ int thread() { return blockIdx.x * kBlock + threadIdx.x; }

// ---- A load that some lanes want --------------------------------------------

__global__ void load_alone(const float* x, float* y, int n, int m) {
  const int i = thread();
  float v = 1.f;
  if (i % 3 == 0) v += x[i];
  if (i > m) return;
  y[i] = v;
}

__global__ void with_work(const float* x, float* y, int n, int m) {
  const int i = thread();
  float v = 1.f;
  if (i % 3 == 0) v += x[i];
  const int j = n * 7 + i;
  if (j > m) return;
  y[i] = v;
}

__global__ void with_a_load(const float* x, float* y, int n, int) {
  const int i = thread();
  float v = 1.f;
  if (i % 3 == 0) v += x[i];
  y[i] = v * x[i + n];
}

__global__ void after_a_load(const float* x, float* y, int n, int m) {
  const int i = thread();
  float v = x[i + n];
  if (i % 3 == 0) v += x[i];
  if (i > m) return;
  y[i] = v;
}

__global__ void before_a_shuffle(const float* x, float* y, int, int) {
  const int i = thread();
  float v = 0.f;
  if (i % 3 == 0) v = x[i];
  v += __shfl_xor_sync(kAll, v, 1);
  y[i] = v;
}

__global__ void before_a_barrier(const float* x, float* y, int, int) {
  __shared__ float tile[kBlock];
  const int i = thread();
  tile[threadIdx.x] = i % 3 == 0 ? x[i] : 0.f;
  __syncthreads();
  y[i] = tile[threadIdx.x ^ 1];
}

__global__ void two_in_a_row(const float* x, float* y, int n, int m) {
  const int i = thread();
  float v = 0.f, w = 0.f;
  if (i % 3 == 0) v = x[i];
  if (i % 5 == 0) w = x[i + n];
  if (i > m) return;
  y[i] = v + w;
}

__global__ void two_elements(const float* x, float* y, int n, int) {
  const int i = 2 * thread();
  if (i % 3 != 0 && i < n) y[i] = x[i] + x[i + n];
  if (i % 5 != 0 && i + 1 < n) y[i + 1] = x[i + 1] + x[i + 1 + n];
}

// ---- At the end of the kernel -----------------------------------------------

__global__ void else_at_the_end(const float* x, float* y, int, int) {
  const int i = thread();
  const float v = x[i];
  if (i % 3 == 0)
    y[i] = v;
  else
    y[i] = v * v + 1.f;
}

__global__ void early_return(const float* x, float* y, int n, int) {
  const int i = thread();
  const float v = x[i];
  if (i % 3 == 0) {
    y[i] = v;
    return;
  }
  y[i + n] = v * v + 1.f;
}

__global__ void even_or_odd(int* data, int n) {
  const int i = thread();
  if (i >= n) return;
  if (data[i] % 2 == 0)
    data[i] *= 2;
  else
    data[i] += 1;
}

// ---- What a warp's size is --------------------------------------------------

__global__ void sum_of_warps(const float* x, float* y, int, int) {
  float v = x[thread()];
  for (int k = warpSize / 2; k > 0; k /= 2) v += __shfl_down_sync(kAll, v, k);
  if (threadIdx.x % warpSize == 0) y[thread() / warpSize] = v;
}

__global__ void sum_of_block(const float* x, float* y, int, int) {
  __shared__ float parts[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  float v = x[thread()];
  for (int k = warpSize / 2; k > 0; k /= 2) v += __shfl_down_sync(kAll, v, k);
  if (lane == 0) parts[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / warpSize ? parts[lane] : 0.f;
  if (warp == 0)
    for (int k = warpSize / 2; k > 0; k /= 2) v += __shfl_down_sync(kAll, v, k);
  if (threadIdx.x == 0) y[blockIdx.x] = v;
}

// ---- Branches within branches -----------------------------------------------

__global__ void sort_pairs(float* x, float*, int n, int m) {
  const int i = thread(), j = i ^ n;
  if (j <= i) return;
  const float a = x[i], b = x[j];
  if ((i & m) == 0) {
    if (a > b) {
      x[i] = b;
      x[j] = a;
    }
  } else {
    if (a < b) {
      x[i] = b;
      x[j] = a;
    }
  }
}

__global__ void sort_shared(float* x, float*, int n, int m) {
  __shared__ float tile[kBlock];
  const int i = threadIdx.x, j = i ^ n;
  tile[i] = x[thread()];
  __syncthreads();
  if (j > i) {
    const float a = tile[i], b = tile[j];
    if ((i & m) == 0) {
      if (a > b) {
        tile[i] = b;
        tile[j] = a;
      }
    } else {
      if (a < b) {
        tile[i] = b;
        tile[j] = a;
      }
    }
  }
  __syncthreads();
  x[thread()] = tile[i];
}

__global__ void halo(const float* x, float* y, int n, int m) {
  __shared__ float tile[kBlock + 2];
  const int i = thread(), t = threadIdx.x;
  tile[t + 1] = x[i];
  if (t == 0) tile[0] = i > n ? x[i - 1] : 0.f;
  if (t == kBlock - 1) tile[t + 2] = i < m ? x[i + 1] : 0.f;
  __syncthreads();
  y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

__global__ void stencil(const float* x, float* y, int n, int m) {
  const int i = thread();
  if (i > n && i < m)
    y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.f;
  else
    y[i] = x[i];
}

__global__ void halve(float* x, float*, int, int) {
  const int i = thread();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (threadIdx.x % (2 * k) == 0) x[i] += x[i + k];
    __syncthreads();
  }
}

__global__ void search(const float* x, float* y, int, int m) {
  const float wanted = x[(thread() * 37) % m];
  int low = 0, high = m;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (x[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  y[thread()] = static_cast<float>(low);
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
       {load_alone, with_work, with_a_load, after_a_load, before_a_shuffle,
        before_a_barrier, two_in_a_row, two_elements, else_at_the_end,
        early_return, sum_of_warps, sum_of_block, halo, stencil, search})
    kernel<<<4, kBlock>>>(x, y, 300, 460);
  even_or_odd<<<4, kBlock>>>(reinterpret_cast<int*>(y), 500);
  for (const auto kernel : {sort_pairs, sort_shared, halve})
    kernel<<<4, kBlock>>>(x, y, 4, 16);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
