// How long the executor takes for a thread of six kernels, and how much memory.
// Each kernel is launched once to load it, then kRepeats times.
//
//   kernels [elements [kernel]]   2^20 elements and every kernel, if not told
//
// Prints one line a kernel: name, threads, nanoseconds of CPU time a thread,
// one each time; then the arrays' bytes and the most memory that was in use.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr int kBlock = 256;
constexpr int kRepeats = 5;
constexpr int kSmallest = 8 * kBlock;  // A block for each kernel.

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

// The most bytes that were ever in use. Of this program alone: getrusage would
// count those of the process that started it, too.
long peak_bytes() {
  long kib = 0;
  char line[256];
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (status && std::fgets(line, sizeof line, status))
    if (std::sscanf(line, "VmHWM: %ld kB", &kib) == 1) break;
  if (status) std::fclose(status);
  return 1024 * kib;
}

struct Arrays {
  void *x, *y;
  const char* wanted;  // The only kernel to run; null: all.
  bool any = false;    // Has been run.
};

template <class X>
void measure(const char* name, void (*kernel)(const X*, X*, int), int threads,
             Arrays& arrays) {
  if (arrays.wanted && std::strcmp(arrays.wanted, name) != 0) return;
  arrays.any = true;
  std::printf("%-10s %9d threads, ns a thread:", name, threads);
  for (int k = 0; k <= kRepeats; ++k) {
    const double start = nanoseconds();
    kernel<<<threads / kBlock, kBlock>>>(static_cast<X*>(arrays.x),
                                         static_cast<X*>(arrays.y), threads);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (k > 0) std::printf(" %.2f", (nanoseconds() - start) / threads);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (n < kSmallest || n % kSmallest) {
    std::fprintf(stderr, "%s elements: give a multiple of %d\n", argv[1],
                 kSmallest);
    return 1;
  }
  Arrays arrays = {nullptr, nullptr, argc > 2 ? argv[2] : nullptr};
  CHECK(cudaMalloc(&arrays.x, n * sizeof(float)));
  CHECK(cudaMalloc(&arrays.y, n * sizeof(float)));
  CHECK(cudaMemset(arrays.x, 0, n * sizeof(float)));
  CHECK(cudaMemset(arrays.y, 0, n * sizeof(float)));
  measure<float>("copy", copy, n, arrays);
  measure<float4>("pack", pack, n / 4, arrays);
  measure<float>("saxpy", saxpy, n, arrays);
  measure<float>("block_sum", block_sum, n, arrays);
  measure<float>("collatz", collatz, n / 8, arrays);
  measure<float>("histogram", histogram, n, arrays);
  CHECK(cudaFree(arrays.x));
  CHECK(cudaFree(arrays.y));
  if (!arrays.any) {
    std::fprintf(stderr, "there is no kernel '%s'\n", arrays.wanted);
    return 1;
  }
  std::printf("memory: %zu bytes of arrays, %ld bytes at most\n",
              2 * n * sizeof(float), peak_bytes());
}
