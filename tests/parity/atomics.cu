// Atomics: with and without a result, of every type, to one place and to many.
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kBlock = 64;

template <class T>
__global__ void add(T* to, int modulus) {
  atomicAdd(to + threadIdx.x % modulus, T(1));
}

template <class T>
__global__ void add_and_tell(T* to, T* old, int modulus) {
  old[threadIdx.x] = atomicAdd(to + threadIdx.x % modulus, T(1));
}

template <class T>
__global__ void add_shared(T* out, int modulus) {
  __shared__ T s[kBlock];
  s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(s + threadIdx.x % modulus, T(1));
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void add_shared_and_tell(int* out, int modulus) {
  __shared__ int s[kBlock];
  s[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = atomicAdd(s + threadIdx.x % modulus, 1);
}

__global__ void others(int* to) {
  const int i = threadIdx.x;
  atomicMax(to + i, i);
  atomicAnd(to + i / 2, i);
  atomicOr(to + 2 * i, i);
  atomicExch(to + i, 7);
  atomicCAS(to + i, 7, 8);
  atomicInc(reinterpret_cast<unsigned*>(to) + i, 5);
}

__global__ void counted(int* count, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 3 == 0) out[atomicAdd(count, 1)] = 1;
}

__global__ void one_lane(float* out) {
  if (threadIdx.x == 0) atomicAdd(out, 2.f);
}

template <class T>
void of_type(void* to, void* old) {
  const auto x = static_cast<T*>(to);
  for (int modulus : {1, 2, 32, 64}) add<<<1, kBlock>>>(x, modulus);
  for (int modulus : {1, 32})
    add_and_tell<<<1, kBlock>>>(x, static_cast<T*>(old), modulus);
  for (int modulus : {1, 8, 64}) add_shared<<<1, kBlock>>>(x, modulus);
}

}  // namespace

int main() {
  const DeviceArray<double> to(kBlock * 2), old(kBlock * 2);
  CUDA_CHECK(cudaMemset(to.data(), 0, kBlock * 2 * sizeof(double)));
  of_type<int>(to.data(), old.data());
  of_type<unsigned long long>(to.data(), old.data());
  of_type<float>(to.data(), old.data());
  of_type<double>(to.data(), old.data());
  const auto ints = reinterpret_cast<int*>(to.data());
  for (int modulus : {1, 2, 32, 64})
    add_shared_and_tell<<<1, kBlock>>>(ints, modulus);
  others<<<1, kBlock>>>(ints);
  CUDA_CHECK(cudaMemset(to.data(), 0, sizeof(int)));
  counted<<<1, kBlock>>>(ints, reinterpret_cast<int*>(old.data()), 32);
  one_lane<<<3, kBlock>>>(reinterpret_cast<float*>(to.data()));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
