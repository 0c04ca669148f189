// Atomics of every type and operation, in global and in shared memory, from
// many blocks at once. Sums of floats are of numbers that add exactly.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cuda/atomic>

#include "tests/simt/expect.h"

namespace {

constexpr int kBlocks = 6;
constexpr int kThreads = 72;
constexpr int kAll = kBlocks * kThreads;

// A value for each thread, the same on the host: spread, odd and even, some
// of them negative when the type has a sign.
template <typename T>
__host__ __device__ T value_of(int i) {
  return static_cast<T>((i * 7919 % 1009 - 504) *
                        (sizeof(T) == 8 ? 65539ll : 1ll));
}

enum Operation { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kInc, kDec };

template <Operation kOperation, typename T>
__device__ T apply(T* at, T value) {
  if constexpr (kOperation == kAdd) return atomicAdd(at, value);
  if constexpr (kOperation == kSub) return atomicSub(at, value);
  if constexpr (kOperation == kMin) return atomicMin(at, value);
  if constexpr (kOperation == kMax) return atomicMax(at, value);
  if constexpr (kOperation == kAnd) return atomicAnd(at, value);
  if constexpr (kOperation == kOr) return atomicOr(at, value);
  if constexpr (kOperation == kXor) return atomicXor(at, value);
  if constexpr (kOperation == kInc) return atomicInc(at, value);
  if constexpr (kOperation == kDec) return atomicDec(at, value);
}

template <Operation kOperation, typename T>
T expected(T start) {
  T result = start;
  for (int i = 0; i < kAll; ++i) {
    const T value = value_of<T>(i);
    if constexpr (kOperation == kAdd) result = result + value;
    if constexpr (kOperation == kSub) result = result - value;
    if constexpr (kOperation == kMin) result = std::min(result, value);
    if constexpr (kOperation == kMax) result = std::max(result, value);
    if constexpr (kOperation == kAnd) result = result & value;
    if constexpr (kOperation == kOr) result = result | value;
    if constexpr (kOperation == kXor) result = result ^ value;
  }
  return result;
}

// The first cell is met by all threads, the next ones by every 16th; the
// result unused (a reduction) there, used in the first.
template <Operation kOperation, typename T>
__global__ void global_kernel(T* cells, T start) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T old = apply<kOperation>(cells, value_of<T>(i));
  if (old != old) cells[1] = old;  // Never: it keeps the result in use.
  apply<kOperation>(cells + 2, value_of<T>(i));
}

// Each block works in shared memory; thread 0 then hands the block's result
// to the cell of its block.
template <Operation kOperation, typename T>
__global__ void shared_kernel(T* cells, T start) {
  __shared__ T cell;
  if (threadIdx.x == 0) cell = start;
  __syncthreads();
  apply<kOperation>(&cell, value_of<T>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) cells[blockIdx.x] = cell;
}

template <typename T>
__global__ void fill_kernel(T* cells, int n, T value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = value;
}

template <Operation kOperation, typename T>
void check(T start, expect::Where where = expect::Where::current()) {
  const auto global = expect::results<T>(3, [&](T* cells) {
    fill_kernel<<<1, 32>>>(cells, 3, start);
    global_kernel<kOperation><<<kBlocks, kThreads>>>(cells, start);
  });
  const T want = expected<kOperation>(start);
  expect::each(
      global, [&](int i) { return i == 1 ? start : want; }, where);

  const auto shared = expect::results<T>(kBlocks, [&](T* cells) {
    shared_kernel<kOperation><<<kBlocks, kThreads>>>(cells, start);
  });
  T block = start;
  for (int i = 0; i < kThreads; ++i) {
    const T value = value_of<T>(i);
    if constexpr (kOperation == kAdd) block = block + value;
    if constexpr (kOperation == kSub) block = block - value;
    if constexpr (kOperation == kMin) block = std::min(block, value);
    if constexpr (kOperation == kMax) block = std::max(block, value);
    if constexpr (kOperation == kAnd) block = block & value;
    if constexpr (kOperation == kOr) block = block | value;
    if constexpr (kOperation == kXor) block = block ^ value;
  }
  expect::each(
      shared, [&](int) { return block; }, where);
}

template <typename T>
void check_integers() {
  check<kAdd, T>(5);
  check<kMin, T>(3);
  check<kMax, T>(3);
  check<kAnd, T>(static_cast<T>(-1));
  check<kOr, T>(0);
  check<kXor, T>(0x55);
}

// Every thread draws a ticket: the old values are all different, and they are
// 0 .. n-1 in some order.
template <typename T>
__global__ void ticket_kernel(T* tickets, T* counter) {
  tickets[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, T(1));
}

template <typename T>
void check_tickets(expect::Where where = expect::Where::current()) {
  auto got = expect::results<T>(kAll + 1, [](T* cells) {
    ticket_kernel<<<kBlocks, kThreads>>>(cells, cells + kAll);
  });
  std::sort(got.begin(), got.end());
  expect::each(
      got, [](int i) { return i; }, where);
}

// inc wraps to 0 past the limit, dec to the limit past 0.
template <Operation kOperation>
__global__ void wrap_kernel(unsigned* cells, unsigned limit) {
  apply<kOperation>(cells, limit);
  __shared__ unsigned cell;
  if (threadIdx.x == 0) cell = 0;
  __syncthreads();
  apply<kOperation>(&cell, limit);
  __syncthreads();
  if (threadIdx.x == 0) cells[1 + blockIdx.x] = cell;
}

void check_wrapping() {
  for (unsigned limit : {0u, 1u, 9u, 100u, 0xffffffffu}) {
    const uint64_t period = uint64_t{limit} + 1;
    auto got = expect::results<unsigned>(1 + kBlocks, [&](unsigned* cells) {
      wrap_kernel<kInc><<<kBlocks, kThreads>>>(cells, limit);
    });
    expect::each(got,
                 [&](int i) { return (i == 0 ? kAll : kThreads) % period; });
    got = expect::results<unsigned>(1 + kBlocks, [&](unsigned* cells) {
      wrap_kernel<kDec><<<kBlocks, kThreads>>>(cells, limit);
    });
    expect::each(got, [&](int i) {
      const uint64_t steps = (i == 0 ? kAll : kThreads) % period;
      return steps == 0 ? 0 : period - steps;
    });
  }
  // A value already past the limit also wraps.
  auto got = expect::results<unsigned>(1 + kBlocks, [](unsigned* cells) {
    fill_kernel<<<1, 32>>>(cells, 1, 1000u);
    wrap_kernel<kInc><<<1, 1>>>(cells, 9u);
  });
  expect::equal(got[0], 0u);
  got = expect::results<unsigned>(1 + kBlocks, [](unsigned* cells) {
    fill_kernel<<<1, 32>>>(cells, 1, 1000u);
    wrap_kernel<kDec><<<1, 1>>>(cells, 9u);
  });
  expect::equal(got[0], 9u);
}

// Exchanged values form a chain: what was put in comes out exactly once.
template <typename T>
__global__ void exchange_kernel(T* out, T* cell) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicExch(cell, static_cast<T>(i + 1));
}

template <typename T>
void check_exchange(expect::Where where = expect::Where::current()) {
  auto got = expect::results<T>(kAll + 1, [](T* out) {
    exchange_kernel<<<kBlocks, kThreads>>>(out, out + kAll);
  });
  std::sort(got.begin(), got.end());
  expect::each(
      got, [](int i) { return i; }, where);
}

// A sum built on compare-and-swap alone.
template <typename T>
__global__ void cas_kernel(T* cell) {
  const T mine = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);
  T seen = *static_cast<volatile T*>(cell);
  T assumed;
  do {
    assumed = seen;
    seen = atomicCAS(cell, assumed, static_cast<T>(assumed + mine));
  } while (seen != assumed);
}

template <typename T>
void check_cas(expect::Where where = expect::Where::current()) {
  // A neighbour on either side shows that only the named bits change.
  const auto got = expect::results<T>(4, [](T* cells) {
    cas_kernel<<<kBlocks, kThreads>>>(cells + 1);
    cas_kernel<<<1, 32>>>(cells + 2);
  });
  expect::equal(got[0], T{0}, where);
  expect::equal(got[1], static_cast<T>(kAll * (kAll - 1) / 2), where);
  expect::equal(got[2], static_cast<T>(496), where);
  expect::equal(got[3], T{0}, where);
}

template <typename T>
__global__ void float_kernel(T* cells) {
  __shared__ T cell;
  if (threadIdx.x == 0) cell = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(cells, static_cast<T>((i - 200) * 0.25));
  atomicAdd(&cell, static_cast<T>(i * 0.5));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(cells + 1, cell);
  if constexpr (sizeof(T) == 4) atomicExch(cells + 2, 2.5f);
}

template <typename T>
void check_float(expect::Where where = expect::Where::current()) {
  const auto got = expect::results<T>(
      3, [](T* cells) { float_kernel<<<kBlocks, kThreads>>>(cells); });
  const double sum = kAll * (kAll - 1) / 2;
  expect::equal(got[0], static_cast<T>((sum - 200.0 * kAll) * 0.25), where);
  expect::equal(got[1], static_cast<T>(sum * 0.5), where);
  expect::equal(got[2], static_cast<T>(sizeof(T) == 4 ? 2.5 : 0), where);
}

// The old value an atomicAdd of floats returns is one of the partial sums.
__global__ void float_tickets_kernel(float* out, float* cell) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(cell, 1.0f);
}

void check_float_tickets() {
  auto got = expect::results<float>(kAll + 1, [](float* out) {
    float_tickets_kernel<<<kBlocks, kThreads>>>(out, out + kAll);
  });
  std::sort(got.begin(), got.end());
  expect::each(got, [](int i) { return static_cast<float>(i); });
}

// 64 threads add numbers that stay exact in 16 bits; the second element of
// the array has another sum, so that halves cannot be swapped.
__global__ void half_kernel(float* out) {
  __shared__ __half2 pair;
  __shared__ __half single[2];
  if (threadIdx.x == 0) {
    pair = __floats2half2_rn(0, 0);
    single[0] = single[1] = __float2half(0);
  }
  __syncthreads();
  atomicAdd(&pair, __floats2half2_rn(1, threadIdx.x % 4));
  atomicAdd(&single[threadIdx.x % 2], __float2half(0.5f));
  __syncthreads();
  if (threadIdx.x != 0) return;
  out[0] = __low2float(pair);
  out[1] = __high2float(pair);
  out[2] = __half2float(single[0]);
  out[3] = __half2float(single[1]);
}

__global__ void half_global_kernel(__half* cells) {
  atomicAdd(&cells[blockIdx.x % 2], __float2half(0.25f));
  atomicAdd(reinterpret_cast<__half2*>(cells + 2), __floats2half2_rn(1, -0.5f));
}

__global__ void bfloat_kernel(__nv_bfloat16* cells) {
  atomicAdd(&cells[threadIdx.x % 2], __float2bfloat16(0.5f));
  atomicAdd(reinterpret_cast<__nv_bfloat162*>(cells + 2),
            __floats2bfloat162_rn(1, -2));
}

void check_halves() {
  const auto shared = expect::results<float>(
      4, [](float* out) { half_kernel<<<1, 64>>>(out); });
  const float in_shared[] = {64, 96, 16, 16};
  expect::each(shared, [&](int i) { return in_shared[i]; });

  const auto global = expect::results<uint16_t>(4, [](uint16_t* cells) {
    half_global_kernel<<<4, 48>>>(reinterpret_cast<__half*>(cells));
  });
  // 24, 24, 192 and -96 as half.
  const uint16_t in_global[] = {0x4e00, 0x4e00, 0x5a00, 0xd600};
  expect::each(global, [&](int i) { return in_global[i]; });

  const auto bfloat = expect::results<uint16_t>(4, [](uint16_t* cells) {
    bfloat_kernel<<<2, 32>>>(reinterpret_cast<__nv_bfloat16*>(cells));
  });
  // 16, 16, 64 and -128 as bfloat16.
  const uint16_t in_bfloat[] = {0x4180, 0x4180, 0x4280, 0xc300};
  expect::each(bfloat, [&](int i) { return in_bfloat[i]; });
}

// The scoped forms, and a generic pointer that is shared in one half of the
// block and global in the other.
__global__ void scopes_kernel(int* cells) {
  __shared__ int cell;
  if (threadIdx.x == 0) cell = 0;
  __syncthreads();
  atomicAdd_block(&cell, 1);
  atomicAdd_system(cells, 1);
  // A block's own: other blocks know nothing of these atomics.
  atomicMax_block(cells + 3 + blockIdx.x, static_cast<int>(threadIdx.x));
  int* either = threadIdx.x % 2 == 0 ? &cell : cells + 1;
  atomicAdd(either, 10);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(cells + 2, cell);
}

void check_scopes() {
  const auto got = expect::results<int>(
      7, [](int* cells) { scopes_kernel<<<4, 64>>>(cells); });
  const int want[] = {256, 1280, 4 * (64 + 320), 63, 63, 63, 63};
  expect::each(got, [&](int i) { return want[i]; });
}

// Several numbers side by side, each added by itself.
__global__ void vectors_kernel(float4* sums, uint32_t* halves, float* old) {
#if __CUDA_ARCH__ >= 900
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 before = atomicAdd(&sums[i % 8], make_float4(1, 2, i, 0.5f));
  atomicAdd_block(reinterpret_cast<float2*>(&sums[8 + blockIdx.x]),
                  make_float2(1, 3));
  asm volatile(
      "red.relaxed.gpu.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(halves),
      "r"(0x3c003c00), "r"(0x00004000)
      : "memory");
  asm volatile(
      "red.global.add.noftz.v4.bf16 [%0], {%1, %1, %2, %2};" ::"l"(halves + 2),
      "h"(static_cast<short>(0x3f80)), "h"(static_cast<short>(0x4000))
      : "memory");
  atomicAdd(&old[i % 8], before.x);
#endif
}

void check_vectors() {
  float4* sums = nullptr;
  uint32_t* halves = nullptr;
  expect::ok(cudaMalloc(&sums, 10 * sizeof *sums));
  expect::ok(cudaMalloc(&halves, 4 * sizeof *halves));
  expect::ok(cudaMemset(sums, 0, 10 * sizeof *sums));
  expect::ok(cudaMemset(halves, 0, 4 * sizeof *halves));
  const auto old = expect::results<float>(
      8, [&](float* out) { vectors_kernel<<<2, 64>>>(sums, halves, out); });
  expect::each(old, [](int) { return 15 * 16 / 2; });
  std::vector<float> got(40);
  std::vector<uint32_t> pairs(4);
  expect::ok(cudaMemcpy(got.data(), sums, 160, cudaMemcpyDefault));
  expect::ok(cudaMemcpy(pairs.data(), halves, 16, cudaMemcpyDefault));
  expect::each(got, [](int i) {
    const int place = i / 4;
    if (place >= 8) return i % 4 == 0 ? 64 : i % 4 == 1 ? 192 : 0;
    const int ids = 16 * place + 8 * 15 * 16 / 2;
    return i % 4 == 0 ? 16 : i % 4 == 1 ? 32 : i % 4 == 2 ? ids : 8;
  });
  // 128 and 128; 256 and 0; twice 128; twice 256.
  const uint32_t expected[] = {0x58005800, 0x00005c00, 0x43004300, 0x43804380};
  expect::each(pairs, [&](int i) { return expected[i]; });
  expect::ok(cudaFree(sums));
  expect::ok(cudaFree(halves));
}

// Of several numbers side by side the least and the greatest; and what was
// there.
__global__ void extremes_kernel(uint32_t* cells, uint32_t* old) {
#if __CUDA_ARCH__ >= 900
  // Two bfloats that grow with the lane, and as halves, too.
  const uint32_t pair = 0x3f804000u + threadIdx.x * 0x10001u;
  asm volatile("red.global.max.noftz.v2.bf16x2 [%0], {%1, %1};" ::"l"(cells),
               "r"(pair)
               : "memory");
  asm volatile(
      "red.relaxed.gpu.global.min.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(
          cells + 4),
      "r"(pair)
      : "memory");
  asm volatile(
      "red.global.min.noftz.v8.f16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::
          "l"(cells + 8),
      "h"(static_cast<short>(pair))
      : "memory");
  if (threadIdx.x) return;
  asm volatile(
      "atom.global.add.noftz.v4.f16x2 {%0, %1, %2, %3}, [%4], {%5, %5, %5, "
      "%6};"
      : "=r"(old[0]), "=r"(old[1]), "=r"(old[2]), "=r"(old[3])
      : "l"(cells + 12), "r"(0x3c004000), "r"(0x00003c00)
      : "memory");
  short before[2];
  asm volatile(
      "atom.relaxed.gpu.global.max.noftz.v2.bf16 {%0, %1}, [%2], "
      "{%3, %4};"
      : "=h"(before[0]), "=h"(before[1])
      : "l"(cells + 16), "h"(short{0x3f80}), "h"(short{0x4000})
      : "memory");
  old[4] = before[0];
  old[5] = before[1];
#endif
}

void check_extremes() {
  std::vector<uint32_t> begin(20, 0);
  std::fill(begin.begin() + 4, begin.begin() + 12, 0x7b7b7b7b);
  std::fill(begin.begin() + 12, begin.begin() + 16, 0x40003c00);
  begin[16] = 0x3f804040;
  uint32_t* cells = nullptr;
  expect::ok(cudaMalloc(&cells, 80));
  expect::ok(cudaMemcpy(cells, begin.data(), 80, cudaMemcpyDefault));
  const auto old = expect::results<uint32_t>(
      6, [&](uint32_t* out) { extremes_kernel<<<1, 32>>>(cells, out); });
  std::vector<uint32_t> got(20);
  expect::ok(cudaMemcpy(got.data(), cells, 80, cudaMemcpyDefault));
  std::vector<uint32_t> want = begin;
  want[0] = want[1] = 0x3f9f401f;
  for (int k = 4; k < 8; ++k) want[k] = 0x3f804000;
  for (int k = 8; k < 12; ++k) want[k] = 0x40004000;
  for (int k = 12; k < 15; ++k) want[k] = 0x42004200;  // 2 + 1 and 1 + 2
  want[15] = 0x40004000;                               // 2 + 0 and 1 + 1
  want[16] = 0x40004040;
  expect::each(got, [&](int k) { return want[k]; });
  const uint32_t before[] = {0x40003c00, 0x40003c00, 0x40003c00,
                             0x40003c00, 0x4040,     0x3f80};
  expect::each(old, [&](int k) { return before[k]; });
  expect::ok(cudaFree(cells));
}

// ---- 128 bits ---------------------------------------------------------------

struct alignas(16) Twins {
  unsigned long long low, high;
};

// Each thread adds to both halves at once; they never part.
__global__ void twins_kernel(Twins* cell, Twins* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ Twins sum;
  if (threadIdx.x == 0) sum = {0, ~0ull};
  __syncthreads();
  const auto add = [](Twins* to, Twins known, unsigned long long low,
                      unsigned long long high) {
    for (;;) {
      const Twins found =
          atomicCAS(to, known, Twins{known.low + low, known.high + high});
      if (found.low == known.low && found.high == known.high) return;
      known = found;
    }
  };
  add(&sum, {0, 0}, 1, 3);
  add(cell, *cell, threadIdx.x, 1);  // A guess: if it is old, the swap fails.
  __syncthreads();
  if (threadIdx.x) return;
  out[blockIdx.x] = atomicExch(&sum, Twins{7, 8});
  out[2 + blockIdx.x] = sum;
#endif
}

void check_twins() {
  Twins* cell = nullptr;
  expect::ok(cudaMalloc(&cell, sizeof *cell));
  expect::ok(cudaMemset(cell, 0, sizeof *cell));
  const auto out = expect::results<Twins>(
      4, [&](Twins* out) { twins_kernel<<<2, 64>>>(cell, out); });
  for (int b = 0; b < 2; ++b) {
    expect::equal(out[b].low, 64);
    expect::equal(out[b].high, 191);
    expect::equal(out[2 + b].low, 7);
    expect::equal(out[2 + b].high, 8);
  }
  Twins all;
  expect::ok(cudaMemcpy(&all, cell, sizeof all, cudaMemcpyDefault));
  expect::equal(all.low, 2 * 2016);
  expect::equal(all.high, 128);
  expect::ok(cudaFree(cell));
}

// Loads, stores and exchanges of one register of 128 bits.
__global__ void wide_kernel(Twins* cells) {
#if __CUDA_ARCH__ >= 900
  __shared__ Twins shared[32];
  Twins* const mine = cells + threadIdx.x;
  asm volatile(
      "{\n"
      ".reg .b128 q, r;\n"
      ".reg .b64 low, high;\n"
      "ld.global.b128 q, [%0];\n"
      "mov.b128 {low, high}, q;\n"
      "mov.b128 r, {high, low};\n"
      "st.shared.b128 [%1], r;\n"
      "ld.volatile.shared.b128 q, [%1];\n"
      "st.relaxed.gpu.global.b128 [%0 + 512], q;\n"
      "atom.global.exch.b128 q, [%0 + 512], r;\n"
      "ld.relaxed.gpu.global.b128 q, [%0 + 512];\n"
      "st.global.b128 [%0 + 512], q;\n"
      "}" ::"l"(mine),
      "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&shared[threadIdx.x])))
      : "memory");
#endif
}

void check_wide() {
  const auto got =
      expect::results<unsigned long long>(128, [](unsigned long long* words) {
        std::vector<unsigned long long> begin(64);
        for (int k = 0; k < 64; ++k) begin[k] = k * 0x100000001ull;
        expect::ok(
            cudaMemcpy(words, begin.data(), 512, cudaMemcpyHostToDevice));
        wide_kernel<<<1, 32>>>(reinterpret_cast<Twins*>(words));
      });
  expect::each(
      got, [](int k) { return (k < 64 ? k : (k - 64) ^ 1) * 0x100000001ull; });
}

// libcu++ takes the whole word that such a number lies in: here the last one of
// shared memory, of which only the first bytes are the program's.
template <typename T>
__global__ void last_word_kernel(unsigned* out) {
  __shared__ T cell;
  cell = 200;
  cuda::atomic_ref<T, cuda::thread_scope_block>(cell).fetch_add(11);
  *out = cell;
}

template <typename T>
void check_last_word() {
  unsigned *device = nullptr, got = 0;
  expect::ok(cudaMalloc(&device, sizeof got));
  last_word_kernel<T><<<1, 1>>>(device);
  expect::ok(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDefault));
  expect::equal(got, 211);
  expect::ok(cudaFree(device));
}

}  // namespace

int main() {
  check_integers<int>();
  check_integers<unsigned>();
  check_integers<unsigned long long>();
  check<kMin, long long>(3);
  check<kMax, long long>(3);
  check<kSub, int>(5);
  check<kSub, unsigned>(5);
  check_tickets<int>();
  check_tickets<unsigned>();
  check_tickets<unsigned long long>();
  check_wrapping();
  check_exchange<int>();
  check_exchange<unsigned>();
  check_exchange<unsigned long long>();
  check_exchange<float>();
  check_cas<int>();
  check_cas<unsigned>();
  check_cas<unsigned long long>();
  check_cas<unsigned short>();
  check_float<float>();
  check_float<double>();
  check_float_tickets();
  check_halves();
  check_scopes();
  check_vectors();
  check_extremes();
  check_twins();
  check_wide();
  check_last_word<unsigned char>();
  check_last_word<unsigned short>();
  return expect::report();
}
