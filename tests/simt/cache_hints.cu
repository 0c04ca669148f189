// What only tunes the caches: policies, hints on accesses, prefetches. Results
// are those without them. What is discarded must be written again.
#include <cuda/annotated_ptr>

#include "tests/simt/expect.h"

namespace {

enum Policy { kFractional, kHalf, kRange, kConverted };

template <Policy kind>
__device__ uint64_t policy_for(const void* array, uint32_t bytes) {
  uint64_t policy;
  if constexpr (kind == kFractional)
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;"
                 : "=l"(policy));
  if constexpr (kind == kHalf)
    asm volatile(
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, "
        "0.5;"
        : "=l"(policy));
  if constexpr (kind == kRange)
    asm volatile(
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, "
        "[%1], %2, %3;"
        : "=l"(policy)
        : "l"(array), "r"(bytes / 2), "r"(bytes));
  if constexpr (kind == kConverted) {
    const cuda::access_property property{cuda::access_property::persisting{}};
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;"
                 : "=l"(policy)
                 : "l"(reinterpret_cast<const uint64_t&>(property)));
  }
  return policy;
}

// ---- Loads and stores -------------------------------------------------------

template <Policy kind>
__global__ void copy_kernel(const uint32_t* in, uint32_t* out) {
  const uint32_t i = threadIdx.x;
  const uint64_t policy = policy_for<kind>(in, 4 * blockDim.x);
  uint32_t a, b, c, d, e, f, g;
  asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(a)
               : "l"(in + i), "l"(policy));
  asm volatile(
      "ld.global.L1::evict_last.L2::cache_hint.L2::128B.b32 %0, [%1], %2;"
      : "=r"(b)
      : "l"(in + i), "l"(policy));
  asm volatile(
      "ld.global.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
      : "=r"(c), "=r"(d)
      : "l"(in + i / 2 * 2), "l"(policy));
  asm volatile("ld.global.nc.L1::evict_first.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(e)
               : "l"(in + i), "l"(policy));
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(f)
               : "l"(in + i), "l"(policy));
  asm volatile("ld.global.nc.L2::256B.u32 %0, [%1];" : "=r"(g) : "l"(in + i));
  const uint32_t sum = a + b + (i % 2 ? d : c) + e + f + g;
  asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + 4 * i),
               "r"(sum), "l"(policy)
               : "memory");
  asm volatile(
      "st.global.L1::no_allocate.L2::cache_hint.v2.u32 [%0], {%1, %1}, %2;" ::
          "l"(out + 4 * i + 2),
      "r"(sum), "l"(policy)
      : "memory");
  asm volatile("st.release.gpu.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(
                   out + 4 * i + 1),
               "r"(sum), "l"(policy)
               : "memory");
}

template <Policy kind>
void check_copies() {
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = i * i + 5;
  const expect::Copy<uint32_t> device(in);
  const auto got = expect::results<uint32_t>(
      256, [&](uint32_t* out) { copy_kernel<kind><<<1, 64>>>(device, out); });
  expect::each(got, [&](int i) { return 6 * in[i / 4]; });
}

// ---- Atomics ----------------------------------------------------------------

__global__ void atomics_kernel(uint32_t* counts, float4* sums, uint32_t* old) {
  const uint64_t policy = policy_for<kFractional>(counts, 0);
  const uint32_t i = threadIdx.x;
  asm volatile("atom.global.add.L2::cache_hint.u32 %0, [%1], %2, %3;"
               : "=r"(old[i])
               : "l"(counts + i), "r"(i), "l"(policy)
               : "memory");
  asm volatile(
      "atom.relaxed.gpu.global.exch.L2::cache_hint.b32 %0, [%1], %2, %3;"
      : "=r"(old[32 + i])
      : "l"(counts + i), "r"(1000 + i), "l"(policy)
      : "memory");
  asm volatile(
      "red.global.max.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(counts + i),
      "r"(1010), "l"(policy)
      : "memory");
  asm volatile(
      "red.relaxed.gpu.global.add.L2::cache_hint.v4.f32 [%0], {%1, %1, %1, "
      "%1}, "
      "%2;" ::"l"(sums),
      "f"(1.f), "l"(policy)
      : "memory");
}

void check_atomics() {
  std::vector<uint32_t> counts(32, 7);
  uint32_t* device = nullptr;
  expect::ok(cudaMalloc(&device, 32 * 4));
  expect::ok(cudaMemcpy(device, counts.data(), 128, cudaMemcpyHostToDevice));
  float4* sums = nullptr;
  expect::ok(cudaMalloc(&sums, sizeof *sums));
  expect::ok(cudaMemset(sums, 0, sizeof *sums));
  const auto old = expect::results<uint32_t>(
      64, [&](uint32_t* out) { atomics_kernel<<<1, 32>>>(device, sums, out); });
  expect::each(old, [](int i) { return i < 32 ? 7 : 7 + i - 32; });
  expect::ok(cudaMemcpy(counts.data(), device, 128, cudaMemcpyDeviceToHost));
  expect::each(counts, [](int i) { return i < 10 ? 1010 : 1000 + i; });
  float4 sum;
  expect::ok(cudaMemcpy(&sum, sums, sizeof sum, cudaMemcpyDeviceToHost));
  expect::equal(sum.x, 32.f);
  expect::equal(sum.w, 32.f);
  expect::ok(cudaFree(device));
  expect::ok(cudaFree(sums));
}

// ---- Asynchronous copies ----------------------------------------------------

__global__ void async_kernel(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(16) uint32_t tile[128];
  const uint64_t policy = policy_for<kHalf>(in, 0);
  const uint32_t i = threadIdx.x;
  const auto place =
      static_cast<uint32_t>(__cvta_generic_to_shared(tile + 4 * i));
  if (i < 16)
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
            place),
        "l"(in + 4 * i), "l"(policy)
        : "memory");
  else
    asm volatile(
        "cp.async.ca.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, "
        "%3;" ::"r"(place),
        "l"(in + 4 * i), "r"(8), "l"(policy)
        : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int k = 0; k < 4; ++k) out[4 * i + k] = tile[4 * i + k];
}

void check_async() {
  std::vector<uint32_t> in(128);
  for (uint32_t i = 0; i < 128; ++i) in[i] = 3 * i + 1;
  const expect::Copy<uint32_t> device(in);
  const auto got = expect::results<uint32_t>(
      128, [&](uint32_t* out) { async_kernel<<<1, 32>>>(device, out); });
  expect::each(got, [&](int i) { return i < 64 || i % 4 < 2 ? in[i] : 0; });
}

// ---- Prefetches, priorities, and what is discarded --------------------------

__global__ void prefetch_kernel(const uint32_t* in, uint32_t* out) {
  const uint32_t i = threadIdx.x;
  asm volatile("prefetch.global.L1 [%0];" ::"l"(in + i));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i));
  asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(in + i));
  asm volatile("prefetch.global.L2::evict_normal [%0];" ::"l"(in + i));
  asm volatile("prefetchu.L1 [%0];" ::"l"(in + i));
  if (i % 32 == 0)
    asm volatile(
        "applypriority.global.L2::evict_normal [%0], 128;" ::"l"(in + i));
  out[i] = in[i];
}

void check_prefetches() {
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = i + 100;
  const expect::Copy<uint32_t> device(in);
  const auto got = expect::results<uint32_t>(
      64, [&](uint32_t* out) { prefetch_kernel<<<1, 64>>>(device, out); });
  expect::each(got, [&](int i) { return in[i]; });
}

// Two lines of the cache are given up, and one of them is written anew.
__global__ void discard_kernel(uint32_t* out) {
  const uint32_t i = threadIdx.x;
  if (i < 2)
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + 32 * i) : "memory");
  __syncthreads();
  if (i < 32) out[i] = i;
}

void check_discard() {
  uint32_t* device = nullptr;
  expect::ok(cudaMalloc(&device, 4 * 96));
  expect::ok(cudaMemset(device, 1, 4 * 96));
  discard_kernel<<<1, 64>>>(device);
  std::vector<uint32_t> got(96, 0);
  expect::ok(cudaMemcpy(got.data(), device, 4 * 96, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < 96; ++i)
    if (i < 32 || i >= 64) expect::equal(got[i], i < 32 ? i : 0x01010101u);
  expect::ok(cudaFree(device));
}

// The same by CUDA's own names.
__global__ void annotated_kernel(const int* in, int* out) {
  const cuda::annotated_ptr<const int, cuda::access_property::persisting> from{
      in};
  const cuda::annotated_ptr<int, cuda::access_property::streaming> to{out};
  cuda::apply_access_property(in, 256, cuda::access_property::persisting{});
  to[threadIdx.x] = from[threadIdx.x] + 1;
  cuda::apply_access_property(in, 256, cuda::access_property::normal{});
}

void check_annotated() {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = 9 * i;
  const expect::Copy<int> device(in);
  const auto got = expect::results<int>(
      64, [&](int* out) { annotated_kernel<<<1, 64>>>(device, out); });
  expect::each(got, [&](int i) { return 9 * i + 1; });
}

}  // namespace

int main() {
  check_copies<kFractional>();
  check_copies<kHalf>();
  check_copies<kRange>();
  check_copies<kConverted>();
  check_atomics();
  check_async();
  check_prefetches();
  check_discard();
  check_annotated();
  return expect::report();
}
