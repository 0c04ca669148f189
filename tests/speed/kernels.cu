// How long the executor takes for a thread of six kernels. Each is launched
// once to load it, then `repeats` times; the fastest counts, being the one that
// the machine disturbed least.
//
// Prints one line a kernel: name, threads, nanoseconds a thread.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace {

constexpr int kBlock = 256;

__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void pack(const float4* x, float4* y, int packs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < packs) y[i] = x[i];
}

__global__ void saxpy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.f * x[i] + y[i];
}

__global__ void block_sum(const float* x, float* y, int n) {
  __shared__ float partial[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int stride = kBlock / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride)
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

__global__ void collatz(const float*, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int steps = 0;
  for (unsigned v = i % 64 + 1; v != 1; ++steps) {
    if (v % 2)
      v = 3 * v + 1;
    else
      v /= 2;
  }
  y[i] = static_cast<float>(steps);
}

__global__ void histogram(const float* x, float* y, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[static_cast<int>(x[i]) & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&y[threadIdx.x], 1.f * bins[threadIdx.x]);
}

#define CHECK(call)                                                 \
  if (const cudaError_t e = (call); e != cudaSuccess) {             \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); \
    std::exit(1);                                                   \
  }

double nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

template <class X>
void measure(const char* name, void (*kernel)(const X*, X*, int), int threads,
             int repeats, void* x, void* y) {
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= repeats; ++k) {
    const double start = nanoseconds();
    kernel<<<threads / kBlock, kBlock>>>(static_cast<X*>(x), static_cast<X*>(y),
                                         threads);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const double took = nanoseconds() - start;
    if (k > 0 && took < best) best = took;
  }
  std::printf("%-10s %9d threads %8.2f ns a thread\n", name, threads,
              best / threads);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = 1 << 20;
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  void *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMemset(x, 0, n * sizeof(float)));
  CHECK(cudaMemset(y, 0, n * sizeof(float)));
  measure<float>("copy", copy, n, repeats, x, y);
  measure<float4>("pack", pack, n / 4, repeats, x, y);
  measure<float>("saxpy", saxpy, n, repeats, x, y);
  measure<float>("block_sum", block_sum, n, repeats, x, y);
  measure<float>("collatz", collatz, n / 8, repeats, x, y);
  measure<float>("histogram", histogram, n, repeats, x, y);
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}
