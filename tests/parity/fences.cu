// Fences, and accesses that are ordered by one: ncu counts what a fence for the
// whole system sends as a store.
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64;

// By all lanes; then by some of each warp, and by one of the first.
#define ORDER(name, instruction)                      \
  __device__ __forceinline__ void name(unsigned* x) { \
    asm volatile(instruction ::"l"(x) : "memory");    \
  }                                                   \
  __global__ void name##_once(unsigned* x) {          \
    x[threadIdx.x] = 1;                               \
    name(x + kThreads + threadIdx.x);                 \
  }                                                   \
  __global__ void name##_by_some(unsigned* x) {       \
    if (threadIdx.x % 3 == 0) name(x + threadIdx.x);  \
    if (threadIdx.x == 5) name(x + 7 * threadIdx.x);  \
  }

ORDER(fence_block, "fence.acq_rel.cta; // %0")
ORDER(fence_device, "fence.acq_rel.gpu; // %0")
ORDER(fence_system, "fence.acq_rel.sys; // %0")
ORDER(fence_all, "fence.sc.sys; // %0")
ORDER(barrier_system, "membar.sys; // %0")
ORDER(release_device, "st.release.gpu.global.u32 [%0], 2;")
ORDER(release_system, "st.release.sys.global.u32 [%0], 2;")
ORDER(reduce_system, "red.release.sys.global.add.u32 [%0], 2;")
ORDER(add_system, "atom.acq_rel.sys.global.add.u32 _, [%0], 2;")
ORDER(add_acquiring, "atom.acquire.sys.global.add.u32 _, [%0], 2;")
ORDER(add_relaxed, "atom.relaxed.sys.global.add.u32 _, [%0], 2;")
ORDER(load_system,
      "{ .reg .u32 v; ld.acquire.sys.global.u32 v, [%0]; "
      "st.global.u32 [%0], v; }")
ORDER(swap_system,
      "{ .reg .u32 v; atom.acq_rel.sys.global.cas.b32 v, [%0], 0, 3; }")

}  // namespace

#define RUN(name)                         \
  name##_once<<<1, kThreads>>>(x.data()); \
  name##_by_some<<<1, kThreads>>>(x.data())

int main() {
  constexpr int kWords = 8 * kThreads;
  const DeviceArray<unsigned> x(kWords);
  CUDA_CHECK(cudaMemset(x.data(), 0, kWords * sizeof(unsigned)));
  RUN(fence_block);
  RUN(fence_device);
  RUN(fence_system);
  RUN(fence_all);
  RUN(barrier_system);
  RUN(release_device);
  RUN(release_system);
  RUN(reduce_system);
  RUN(add_system);
  RUN(add_acquiring);
  RUN(add_relaxed);
  RUN(load_system);
  RUN(swap_system);
  CUDA_CHECK(cudaDeviceSynchronize());
}
