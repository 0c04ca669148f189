// Accesses by addresses that do not say which memory they lead to, and atomics
// whose answer nobody needs: ptxas makes reductions of these only where the PTX
// says .global, and only if they do not acquire.
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64;

// ---- Orders of memory -------------------------------------------------------

#define ADD_IN_ORDER(name, order)                                    \
  __global__ void name(unsigned* x) {                                \
    asm volatile("{ .reg .u32 old; atom" order                       \
                 ".global.add.u32 old, [%0], 1; }" ::"l"(            \
                     __cvta_generic_to_global(x + threadIdx.x / 3))  \
                 : "memory");                                        \
  }                                                                  \
  __global__ void name##_where_odd(unsigned* x) {                    \
    if (threadIdx.x % 2)                                             \
      asm volatile("atom" order ".global.max.u32 _, [%0], 7;" ::"l"( \
                       __cvta_generic_to_global(x))                  \
                   : "memory");                                      \
  }

ADD_IN_ORDER(plain, "")
ADD_IN_ORDER(relaxed, ".relaxed.gpu")
ADD_IN_ORDER(acquires, ".acquire.gpu")
ADD_IN_ORDER(acquires_in_block, ".acquire.cta")
ADD_IN_ORDER(releases, ".release.sys")
ADD_IN_ORDER(both, ".acq_rel.gpu")

// ---- Addresses that lead anywhere -------------------------------------------

// An address that is itself loaded: the compiler cannot know.
template <class T>
__global__ void add_somewhere(T** where) {
  atomicAdd(*where + threadIdx.x / 3, T(1));
}

template <class T>
__global__ void add_and_see(T** where, T* seen) {
  seen[threadIdx.x] = atomicAdd(*where + threadIdx.x / 3, T(1));
}

__global__ void exchange_somewhere(unsigned** where, unsigned* seen) {
  seen[threadIdx.x] = atomicExch(*where + threadIdx.x, 5u);
}

__global__ void load_somewhere(uint4** where, unsigned* seen) {
  seen[threadIdx.x] = (*where)[threadIdx.x * 2].x;
}

__global__ void store_somewhere(unsigned** where, unsigned value) {
  (*where)[threadIdx.x * 3] = value;
}

__global__ void reduce_somewhere(unsigned** where) {
  asm volatile("red.add.u32 [%0], 1;" ::"l"(*where + threadIdx.x) : "memory");
}

// Shared memory, where `here` says so.
template <class T>
__global__ void add_to_either(T* x, bool here) {
  __shared__ T part[kThreads];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  atomicAdd((here ? part : x) + threadIdx.x, T(1));
  __syncthreads();
  x[threadIdx.x] = part[threadIdx.x];
}

__global__ void use_either(unsigned* x, unsigned* seen, bool here) {
  __shared__ unsigned part[4 * kThreads];
  unsigned* const at = here ? part : x;
  at[threadIdx.x * 4] = threadIdx.x;
  __syncthreads();
  seen[threadIdx.x] = at[(kThreads - 1 - threadIdx.x) * 4];
}

template <class T>
void add() {
  const DeviceArray<T> x(kThreads), seen(kThreads);
  const DeviceArray<T*> where(1);
  T* const first = x.data();
  CUDA_CHECK(cudaMemset(first, 0, kThreads * sizeof(T)));
  CUDA_CHECK(cudaMemcpy(where.data(), &first, sizeof first, cudaMemcpyDefault));
  add_somewhere<<<1, kThreads>>>(where.data());
  add_and_see<<<1, kThreads>>>(where.data(), seen.data());
  add_to_either<<<1, kThreads>>>(first, false);
  add_to_either<<<1, kThreads>>>(first, true);
}

void orders(unsigned* x) {
  for (auto kernel :
       {plain, relaxed, acquires, acquires_in_block, releases, both,
        plain_where_odd, relaxed_where_odd, acquires_where_odd,
        acquires_in_block_where_odd, releases_where_odd, both_where_odd})
    kernel<<<1, kThreads>>>(x);
}

void words(unsigned* x) {
  const DeviceArray<unsigned> seen(kThreads);
  const DeviceArray<unsigned*> where(1);
  CUDA_CHECK(cudaMemcpy(where.data(), &x, sizeof x, cudaMemcpyDefault));
  exchange_somewhere<<<1, kThreads>>>(where.data(), seen.data());
  reduce_somewhere<<<1, kThreads>>>(where.data());
  load_somewhere<<<1, kThreads>>>(reinterpret_cast<uint4**>(where.data()),
                                  seen.data());
  store_somewhere<<<1, kThreads>>>(where.data(), 3u);
  use_either<<<1, kThreads>>>(x, seen.data(), false);
  use_either<<<1, kThreads>>>(x, seen.data(), true);
}

}  // namespace

int main() {
  constexpr int kWords = 8 * kThreads;
  const DeviceArray<unsigned> x(kWords);
  CUDA_CHECK(cudaMemset(x.data(), 0, kWords * sizeof(unsigned)));
  orders(x.data());
  words(x.data());
  add<unsigned>();
  add<unsigned long long>();
  add<float>();
  add<double>();
  CUDA_CHECK(cudaDeviceSynchronize());
}
