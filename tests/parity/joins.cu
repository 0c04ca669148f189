// What ptxas joins: neighbouring accesses of a lane to shared memory, and
// atomics of all lanes to one place.
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64;

// f(p) is what each thread does with a row of its own, of so many elements.
template <class T, int kRow, class F>
__device__ void with_row(T* out, F f) {
  __shared__ T rows[kThreads * kRow];
  for (int k = 0; k < kRow; ++k)
    rows[k * kThreads + threadIdx.x] = out[k * kThreads + threadIdx.x];
  __syncthreads();
  const T result = f(rows + threadIdx.x * kRow);
  __syncthreads();
  out[threadIdx.x] = result + rows[threadIdx.x];
}

// The product of the elements of which `kWhich` has the bits.
template <class T, int kRow, unsigned kWhich>
__global__ void chosen(T* out) {
  with_row<T, kRow>(out, [](const T* row) {
    T product = 1;
#pragma unroll
    for (int k = 0; k < 32; ++k)
      if (kWhich >> k & 1) product *= row[k];
    return product;
  });
}

template <int kRow, unsigned kWhich>
__global__ void stored(float* out) {
  with_row<float, kRow>(out, [=](float* row) {
#pragma unroll
    for (int k = 0; k < 32; ++k)
      if (kWhich >> k & 1) row[k] = out[k * kThreads + threadIdx.x + 1];
    return 1.f;
  });
}

// The array lies behind another, at 20 or 24 bytes.
template <int kBefore>
__global__ void behind(float* out) {
  __shared__ float before[kBefore];
  if (threadIdx.x < kBefore) before[threadIdx.x] = out[threadIdx.x];
  __shared__ float row[kThreads * 8];
  for (int k = 0; k < 8; ++k)
    row[k * kThreads + threadIdx.x] = out[k * kThreads + threadIdx.x];
  __syncthreads();
  float sum = before[threadIdx.x % 3];
  for (int k = 0; k < 8; ++k) sum += row[threadIdx.x * 8 + k];
  out[threadIdx.x] = sum;
}

__global__ void dynamic(float* out) {
  extern __shared__ float row[];
  for (int k = 0; k < 8; ++k)
    row[k * kThreads + threadIdx.x] = out[k * kThreads + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += row[threadIdx.x * 8 + k];
  out[threadIdx.x] = sum;
}

enum class Between { kStore, kFence, kShuffle, kDivision, kGlobalAtomic };

template <Between kBetween>
__global__ void parted(float* out) {
  with_row<float, 8>(out, [=](float* row) {
    float sum = row[0];
    if (kBetween == Between::kStore) row[5] = sum;
    if (kBetween == Between::kFence) __threadfence_block();
    if (kBetween == Between::kShuffle) sum += __shfl_xor_sync(~0u, sum, 1);
    if (kBetween == Between::kDivision) sum = out[3] / sum;
    if (kBetween == Between::kGlobalAtomic) atomicAdd(out + 7, sum);
    return sum * row[1];
  });
}

// A tile of a matrix, padded so that rows begin at any word or at every fourth.
template <int kPitch>
__global__ void row_times_column(const float* x, float* out) {
  __shared__ float a[16][kPitch], b[16][kPitch];
  const int row = threadIdx.y, column = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 48; k += 16) {
    a[row][column] = x[row * 48 + k + column];
    b[row][column] = x[(k + row) * 16 + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[row][i] * b[i][column];
    __syncthreads();
  }
  out[row * 16 + column] = sum;
}

// Lanes that add to one word, as ptxas can tell, or to words of their own.
__global__ void add_here(int* out, const int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + blockIdx.x, x[i]);
}
__global__ void greatest(int* out, const int* x) {
  atomicMax(out + x[0] % 2, x[threadIdx.x]);
}
__global__ void bits(unsigned* out, const int* x) {
  if (x[threadIdx.x] % 3) atomicOr(out, 1u << threadIdx.x % 32);
}
__global__ void apart(int* out, const int* x) {
  atomicAdd(out + threadIdx.x / 32, x[threadIdx.x]);
}
__global__ void wrapping(unsigned* out, const int* x) {
  atomicInc(out, x[threadIdx.x]);
}
__global__ void long_sum(unsigned long long* out, const int* x) {
  atomicAdd(out, static_cast<unsigned long long>(x[threadIdx.x]));
}
__global__ void tickets(int* out, int* next) {
  out[threadIdx.x] = atomicAdd(next, 1);
}
__global__ void shared_sum(int* out, const int* x) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <class T, int kRow>
void launch_chosen(T* out) {
  chosen<T, kRow, 0x003><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x006><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x007><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x00b><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x05a><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x0f0><<<1, kThreads>>>(out);
  chosen<T, kRow, 0x1fe><<<1, kThreads>>>(out);
}

}  // namespace

int main() {
  std::vector<int> numbers(1 << 12);
  for (size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = static_cast<int>(k * 7 % 64);
  const DeviceArray<int> x(numbers), n(numbers);
  const DeviceArray<float> f(std::vector<float>(1 << 12, 1)),
      y(std::vector<float>(1 << 12, 1));
  const DeviceArray<double> d(std::vector<double>(1 << 12, 1));

  launch_chosen<float, 9>(f.data());
  launch_chosen<float, 10>(f.data());
  launch_chosen<float, 12>(f.data());
  launch_chosen<int, 16>(n.data());
  launch_chosen<double, 10>(d.data());
  stored<10, 0x3f><<<1, kThreads>>>(f.data());
  stored<12, 0xff><<<1, kThreads>>>(f.data());
  stored<12, 0xe7><<<1, kThreads>>>(f.data());
  behind<5><<<1, kThreads>>>(f.data());
  behind<6><<<1, kThreads>>>(f.data());
  behind<8><<<1, kThreads>>>(f.data());
  dynamic<<<1, kThreads, kThreads * 8 * sizeof(float)>>>(f.data());
  parted<Between::kStore><<<1, kThreads>>>(f.data());
  parted<Between::kFence><<<1, kThreads>>>(f.data());
  parted<Between::kShuffle><<<1, kThreads>>>(f.data());
  parted<Between::kDivision><<<1, kThreads>>>(f.data());
  parted<Between::kGlobalAtomic><<<1, kThreads>>>(f.data());
  row_times_column<17><<<1, dim3(16, 16)>>>(f.data(), y.data());
  row_times_column<20><<<1, dim3(16, 16)>>>(f.data(), y.data());

  add_here<<<4, kThreads>>>(n.data(), x.data(), 250);
  greatest<<<4, kThreads>>>(n.data(), x.data());
  bits<<<4, kThreads>>>(reinterpret_cast<unsigned*>(n.data()), x.data());
  apart<<<4, kThreads>>>(n.data(), x.data());
  wrapping<<<4, kThreads>>>(reinterpret_cast<unsigned*>(n.data()), x.data());
  long_sum<<<4, kThreads>>>(reinterpret_cast<unsigned long long*>(d.data()),
                            x.data());
  tickets<<<1, kThreads>>>(n.data() + 1, n.data());
  shared_sum<<<4, kThreads>>>(n.data(), x.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
