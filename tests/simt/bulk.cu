// Bulk copies between global and shared memory, told by a barrier or waited for
// in groups; reductions; and CUB's transform, which copies so on Hopper.
#include <cub/device/device_transform.cuh>

#include "tests/simt/expect.h"
#include "tests/simt/mbarrier.h"

namespace {

using namespace for_copies;

// ---- From global memory ----------------------------------------------------

__device__ void load(void* to, const void* from, uint32_t bytes,
                     uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1], %2, [%3];" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}

// Two copies for one barrier, again and again in two stages.
constexpr int kPart = 96, kRounds = 5;
__global__ void load_kernel(const int* in, int* out) {
  __shared__ alignas(16) int box[2][2 * kPart];
  __shared__ uint64_t bar[2];
  const int i = threadIdx.x;
  if (i == 0)
    for (uint64_t& one : bar) init(&one, 1);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int s = round & 1;
    if (i == 0) {
      const int* from = in + round * 2 * kPart;
      load(box[s], from + kPart, kPart * 4, &bar[s]);
      arrive_and_expect(&bar[s], 2 * kPart * 4);
      load(box[s] + kPart, from, kPart * 4, &bar[s]);
    }
    wait(&bar[s], round / 2 & 1);
    sum = sum * 3 + box[s][i];
    __syncthreads();
  }
  out[i] = sum;
}

void check_load() {
  std::vector<int> host(kRounds * 2 * kPart);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * i);
  const expect::Copy<int> in(host);
  const auto got = expect::results<int>(
      2 * kPart, [&](int* out) { load_kernel<<<1, 2 * kPart>>>(in, out); });
  expect::each(got, [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds; ++round)
      sum = sum * 3 + host[round * 2 * kPart + (i + kPart) % (2 * kPart)];
    return sum;
  });
}

// ---- To global memory ------------------------------------------------------

__device__ void fence_for_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void close_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ void store(void* to, const void* from, uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(from)), "r"(bytes)
      : "memory");
}

// A stage is written again once its last copy has been read.
__global__ void store_kernel(int* out) {
  __shared__ alignas(16) int box[2][kPart];
  const int i = threadIdx.x;
  for (int round = 0; round < kRounds; ++round) {
    if (i == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    box[round & 1][i] = round * 1000 + i;
    fence_for_copies();
    __syncthreads();
    if (i == 0) {
      store(out + round * kPart, box[round & 1], kPart * 4);
      close_group();
    }
  }
  if (i == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

void check_store() {
  const auto got = expect::results<int>(
      kRounds * kPart, [](int* out) { store_kernel<<<1, kPart>>>(out); });
  expect::each(got, [](int i) { return i / kPart * 1000 + i % kPart; });
}

#define REDUCTION(name, modifiers)                                     \
  __device__ void name(void* to, const void* from, uint32_t bytes) {   \
    asm volatile(                                                      \
        "cp.reduce.async.bulk.global.shared::cta.bulk_group" modifiers \
        " [%0], [%1], %2;" ::"l"(to),                                  \
        "r"(shared_address(from)), "r"(bytes)                          \
        : "memory");                                                   \
  }
REDUCTION(add_u32, ".add.u32")
REDUCTION(add_f32, ".add.f32")
REDUCTION(add_f64, ".add.f64")
REDUCTION(max_s64, ".max.s64")
REDUCTION(min_u32, ".min.u32")
REDUCTION(xor_b64, ".xor.b64")
REDUCTION(inc_u32, ".inc.u32")
REDUCTION(add_f16, ".add.noftz.f16")
REDUCTION(add_bf16, ".add.noftz.bf16")

using Reduce = void(void*, const void*, uint32_t);

// All blocks reduce into the same array, which begins as bits of thread
// numbers.
template <Reduce reduce>
__global__ void reduce_kernel(uint32_t* out) {
  __shared__ alignas(16) uint32_t box[32];
  const int i = threadIdx.x;
  box[i] = 0x3c003f80u * (blockIdx.x + 1) + i * 0x10001u;
  fence_for_copies();
  __syncwarp();
  if (i == 0) {
    reduce(out, box, sizeof box);
    close_group();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

template <class T, Reduce reduce, class Update>
void check_reduction(Update update) {
  constexpr int kBlocks = 3;
  const auto got = expect::results<uint32_t>(
      32, [](uint32_t* out) { reduce_kernel<reduce><<<kBlocks, 32>>>(out); });
  std::vector<T> sums(128 / sizeof(T)), result(sums.size());
  std::memcpy(result.data(), got.data(), 128);
  for (int block = 0; block < kBlocks; ++block) {
    uint32_t words[32];
    for (int i = 0; i < 32; ++i)
      words[i] = 0x3c003f80u * (block + 1) + i * 0x10001u;
    std::vector<T> more(sums.size());
    std::memcpy(more.data(), words, 128);
    for (size_t k = 0; k < sums.size(); ++k) sums[k] = update(sums[k], more[k]);
  }
  expect::each(result, [&](int k) { return sums[k]; });
}

// ---- Halves: exact sums ----------------------------------------------------

// Each block adds 2 to every second number, and 0.5 to the others.
template <Reduce reduce>
__global__ void halves_kernel(uint16_t* out, uint16_t two, uint16_t half) {
  __shared__ alignas(16) uint16_t box[64];
  box[2 * threadIdx.x] = two;
  box[2 * threadIdx.x + 1] = half;
  fence_for_copies();
  __syncwarp();
  if (threadIdx.x != 0) return;
  reduce(out, box, sizeof box);
  close_group();
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

void check_reductions() {
  const auto sum = [](auto a, auto b) { return a + b; };
  check_reduction<uint32_t, add_u32>(sum);
  check_reduction<int64_t, max_s64>(
      [](int64_t a, int64_t b) { return std::max(a, b); });
  check_reduction<uint32_t, min_u32>(
      [](uint32_t a, uint32_t b) { return std::min(a, b); });
  check_reduction<uint64_t, xor_b64>(
      [](uint64_t a, uint64_t b) { return a ^ b; });
  check_reduction<uint32_t, inc_u32>(
      [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  const auto f16 = expect::results<uint16_t>(64, [](uint16_t* out) {
    halves_kernel<add_f16><<<3, 32>>>(out, 0x4000, 0x3800);
  });
  expect::each(f16, [](int i) { return i % 2 ? 0x3e00 : 0x4600; });
  const auto bf16 = expect::results<uint16_t>(64, [](uint16_t* out) {
    halves_kernel<add_bf16><<<3, 32>>>(out, 0x4000, 0x3f00);
  });
  expect::each(bf16, [](int i) { return i % 2 ? 0x3fc0 : 0x40c0; });
}

// Sums that are exact in any order.
template <class T, Reduce reduce>
__global__ void sums_kernel(T* out) {
  __shared__ alignas(16) T box[32];
  box[threadIdx.x] = T(0.5) * threadIdx.x;
  fence_for_copies();
  __syncwarp();
  if (threadIdx.x != 0) return;
  reduce(out, box, sizeof box);
  close_group();
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

void check_sums() {
  const auto single = expect::results<float>(
      32, [](float* out) { sums_kernel<float, add_f32><<<7, 32>>>(out); });
  expect::each(single, [](int i) { return 3.5f * i; });
  const auto wide = expect::results<double>(
      32, [](double* out) { sums_kernel<double, add_f64><<<7, 32>>>(out); });
  expect::each(wide, [](int i) { return 3.5 * i; });
}

// ---- One lane of a warp, and a prefetch -------------------------------------

__global__ void elected_kernel(const int* in, int* out) {
  __shared__ alignas(16) int box[64];
  __shared__ uint64_t bar;
  uint32_t is_elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(is_elected));
  if (threadIdx.x < 32 && is_elected) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(in));
    init(&bar, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    arrive_and_expect(&bar, 256);
    load(box, in, 256, &bar);
  }
  __syncthreads();
  wait(&bar, 0);
  out[threadIdx.x] = box[63 - threadIdx.x];
}

void check_elected() {
  std::vector<int> host(64);
  for (int i = 0; i < 64; ++i) host[i] = i * 7;
  const expect::Copy<int> in(host);
  const auto got = expect::results<int>(
      64, [&](int* out) { elected_kernel<<<1, 64>>>(in, out); });
  expect::each(got, [](int i) { return (63 - i) * 7; });
}

// ---- CUB --------------------------------------------------------------------

struct Axpy {
  __device__ float operator()(float x, float y) const { return 2 * x + y; }
};

void check_transform() {
  for (int n : {1, 1000, 20000}) {
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = static_cast<float>(i % 7);
    }
    const expect::Copy<float> from(x), plus(y);
    const auto got = expect::results<float>(n, [&](float* out) {
      expect::ok(cub::DeviceTransform::Transform(
          cuda::std::make_tuple(static_cast<const float*>(from),
                                static_cast<const float*>(plus)),
          out, n, Axpy{}));
    });
    expect::each(got, [&](int i) { return 2 * x[i] + y[i]; });
  }
}

}  // namespace

int main() {
  check_load();
  check_store();
  check_reductions();
  check_sums();
  check_elected();
  check_transform();
  return expect::report();
}
