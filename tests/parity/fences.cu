// Fences, and accesses that are ordered by one: ncu counts what a fence for the
// whole system sends as a store.
#include <cuda_runtime.h>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64;

#define ORDER(name, instruction)                                           \
  __global__ void name(unsigned* x) {                                      \
    x[threadIdx.x] = 1;                                                    \
    asm volatile(instruction ::"l"(                                        \
                     __cvta_generic_to_global(x + kThreads + threadIdx.x)) \
                 : "memory");                                              \
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

// A warp without any such lane sends nothing.
__global__ void fence_by_some(unsigned* x) {
  if (threadIdx.x % 3 == 0) __threadfence_system();
  x[threadIdx.x] = 1;
  if (threadIdx.x == 5) __threadfence_system();
}

}  // namespace

int main() {
  constexpr int kWords = 2 * kThreads;
  const DeviceArray<unsigned> x(kWords);
  CUDA_CHECK(cudaMemset(x.data(), 0, kWords * sizeof(unsigned)));
  for (auto kernel :
       {fence_block, fence_device, fence_system, fence_all, barrier_system,
        release_device, release_system, reduce_system, add_system,
        add_acquiring, add_relaxed, load_system, swap_system, fence_by_some})
    kernel<<<1, kThreads>>>(x.data());
  CUDA_CHECK(cudaDeviceSynchronize());
}
