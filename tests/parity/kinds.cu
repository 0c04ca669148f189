// Every kind of access to memory that the other programs leave out: vectors of
// atomics, 128 bits at once, hints, a thread's own memory, constants.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/harness/device_array.h"

namespace {

constexpr int kThreads = 64;

// ---- One instruction each ---------------------------------------------------

// Each thread at a place of 16 bytes.
#define TOUCH(name, instruction)                                  \
  __global__ void name(uint4* x) {                                \
    asm volatile(                                                 \
        "{ .reg .b32 v<4>; .reg .b64 w<2>; .reg .b128 q;"         \
        ".reg .f32 f<4>; .reg .b16 h<8>; mov.f32 f0, 0f3F800000;" \
        "mov.b32 v0, 1; mov.b64 w0, 2; mov.b128 q, {w0, w0};"     \
        "mov.b16 h0, 0;" instruction                              \
        "}" ::"l"(__cvta_generic_to_global(x + threadIdx.x))      \
        : "memory");                                              \
  }

#define KEEP(load, v) load " st.global.b32 [%0 + 4], " v ";"

TOUCH(add_two_floats, "red.global.add.v2.f32 [%0], {f0, f0};")
TOUCH(add_four_floats, "red.global.add.v4.f32 [%0], {f0, f0, f0, f0};")
TOUCH(ask_two_floats,
      KEEP("atom.global.add.v2.f32 {f1, f2}, [%0], {f0, f0};", "f1"))
TOUCH(ask_four_floats,
      KEEP("atom.global.add.v4.f32 {f1, f2, f3, _}, [%0], {f0, f0, f0, f0};",
           "f3"))
TOUCH(add_eight_halves,
      "red.global.add.noftz.v8.f16 [%0], {h0, h0, h0, h0, h0, h0, h0, h0};")
TOUCH(add_pair_of_halves, "red.global.add.noftz.f16x2 [%0], v0;")
TOUCH(ask_pair_of_halves,
      KEEP("atom.global.add.noftz.bf16x2 v1, [%0], v0;", "v1"))
TOUCH(exchange_wide, "atom.global.exch.b128 q, [%0], q;")
TOUCH(swap_wide, "atom.global.cas.b128 q, [%0], q, q;")
TOUCH(swap_short, "atom.global.cas.b16 h1, [%0], h0, h0;")
TOUCH(load_volatile, KEEP("ld.volatile.global.b32 v1, [%0];", "v1"))
TOUCH(load_relaxed, KEEP("ld.relaxed.sys.global.b64 w1, [%0]; mov.b64 {v1, "
                         "v2}, w1; xor.b32 v1, v1, v2;",
                         "v1"))
TOUCH(load_mmio, KEEP("ld.mmio.relaxed.sys.global.b32 v1, [%0];", "v1"))
TOUCH(load_once, KEEP("ld.global.nc.L1::no_allocate.b32 v1, [%0];", "v1"))
TOUCH(load_streaming, KEEP("ld.global.cs.b32 v1, [%0];", "v1"))
TOUCH(load_uniform, KEEP("ldu.global.b32 v1, [%0];", "v1"))
TOUCH(store_volatile, "st.volatile.global.b32 [%0], v0;")
TOUCH(store_relaxed, "st.relaxed.gpu.global.b64 [%0], w0;")
TOUCH(store_through, "st.global.wt.b32 [%0], v0;")
TOUCH(prefetch_near, "prefetch.global.L1 [%0];")
TOUCH(prefetch_far, "prefetch.global.L2 [%0];")
TOUCH(prefetch_to_keep, "prefetch.global.L2::evict_last [%0];")

// ---- Memory of a thread, and constants --------------------------------------

__global__ void own_array(unsigned* x) {
  unsigned mine[32];
  for (int k = 0; k < 32; ++k) mine[k] = x[k] * threadIdx.x;
  unsigned sum = 0;
  for (int k = 0; k < 32; ++k) sum += mine[(k * x[1] + threadIdx.x) % 32];
  x[kThreads + threadIdx.x] = sum;
}

__device__ __noinline__ void fill(unsigned* to, int n, unsigned v) {
  for (int k = 0; k < n; ++k) to[(k + v) % 16] = k;
}

__global__ void filled_elsewhere(unsigned* x) {
  unsigned mine[16];
  fill(mine, 16, x[2]);
  x[kThreads + threadIdx.x] = mine[threadIdx.x % 16];
}

__constant__ unsigned table[kThreads];

__global__ void look_up(unsigned* x) {
  x[threadIdx.x] = table[threadIdx.x / 4] + table[7];
}

struct Many {
  unsigned values[kThreads];
};

__global__ void of_parameters(unsigned* x, const __grid_constant__ Many many) {
  x[threadIdx.x] = many.values[threadIdx.x ^ 1];
}

__global__ void by_pointer(unsigned* x, const __grid_constant__ Many many) {
  const unsigned* from = x[3] > 1u << 30 ? x : many.values;
  x[kThreads + threadIdx.x] = from[threadIdx.x ^ 1];
}

// The same, 8 bytes further.
__global__ void by_pointer(unsigned* x, uint64_t mask,
                           const __grid_constant__ Many many) {
  const unsigned* from = x[3] > 1u << 30 ? x : many.values;
  x[kThreads + threadIdx.x] = from[threadIdx.x & mask];
}

void touch(uint4* x) {
  for (auto kernel : {add_two_floats,     add_four_floats,  ask_two_floats,
                      ask_four_floats,    add_eight_halves, add_pair_of_halves,
                      ask_pair_of_halves, exchange_wide,    swap_wide,
                      swap_short,         load_volatile,    load_relaxed,
                      load_mmio,          load_once,        load_streaming,
                      load_uniform,       store_volatile,   store_relaxed,
                      store_through,      prefetch_near,    prefetch_far,
                      prefetch_to_keep})
    kernel<<<1, kThreads>>>(x);
}

}  // namespace

int main() {
  const DeviceArray<uint4> x(kThreads);
  unsigned* const words = reinterpret_cast<unsigned*>(x.data());
  CUDA_CHECK(cudaMemset(words, 0, kThreads * sizeof(uint4)));
  touch(x.data());
  CUDA_CHECK(cudaMemset(words, 0, kThreads * sizeof(uint4)));
  own_array<<<1, kThreads>>>(words);
  filled_elsewhere<<<1, kThreads>>>(words);
  look_up<<<1, kThreads>>>(words);
  of_parameters<<<1, kThreads>>>(words, Many{});
  by_pointer<<<1, kThreads>>>(words, Many{});
  by_pointer<<<1, kThreads>>>(words, uint64_t{kThreads - 1}, Many{});
  CUDA_CHECK(cudaDeviceSynchronize());
}
