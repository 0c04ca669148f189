// Asynchronous copies to shared memory: every size, with zeros behind fewer
// bytes, in groups; as PTX, and by the functions of CUDA's headers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"
#include "tests/simt/mbarrier.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 96;

// Byte i of what is copied from.
__host__ __device__ uint8_t pattern(int i) { return i * 7 + i / 256 + 1; }

std::vector<uint8_t> patterns(size_t n) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = pattern(static_cast<int>(i));
  return bytes;
}

template <int kBytes>
__device__ void copy(uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from),
               "n"(kBytes)
               : "memory");
}

template <int kBytes>
__device__ void copy(uint32_t to, const void* from, int taken) {
  asm volatile(
      "cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to),
      "l"(from), "n"(kBytes), "r"(taken)
      : "memory");
}

__device__ void copy_past_l1(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16;" ::"r"(to),
               "l"(from)
               : "memory");
}

__device__ void wait_for_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// ---- One copy ------------------------------------------------------------

template <int kBytes>
__device__ void write_out(const uint8_t* box, uint8_t* out) {
  wait_for_all();
  __syncthreads();
  for (int k = threadIdx.x; k < kThreads * kBytes; k += kThreads)
    out[k] = box[k];
}

// Each thread copies into its mirror image's place.
template <int kBytes, bool kPastL1>
__global__ void whole_kernel(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(16) uint8_t box[kThreads * kBytes];
  const int i = threadIdx.x, mirror = kThreads - 1 - i;
  const uint32_t to = shared_address(box + mirror * kBytes);
  if constexpr (kPastL1)
    copy_past_l1(to, in + i * kBytes);
  else
    copy<kBytes>(to, in + i * kBytes);
  write_out<kBytes>(box, out);
}

template <int kBytes, bool kPastL1>
void check_whole() {
  const expect::Copy<uint8_t> in(patterns(kThreads * kBytes));
  const auto got =
      expect::results<uint8_t>(kThreads * kBytes, [&](uint8_t* out) {
        whole_kernel<kBytes, kPastL1><<<1, kThreads>>>(in, out);
      });
  expect::each(got, [](int i) {
    const int mirror = kThreads - 1 - i / kBytes;
    return pattern(mirror * kBytes + i % kBytes);
  });
}

// Zeros follow what is taken, from none to all of the bytes.
template <int kBytes>
__global__ void part_kernel(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(16) uint8_t box[kThreads * kBytes];
  const int i = threadIdx.x, taken = i % (kBytes + 1);
  copy<kBytes>(shared_address(box + i * kBytes),
               taken ? in + i * kBytes : nullptr, taken);
  write_out<kBytes>(box, out);
}

template <int kBytes>
void check_part() {
  const expect::Copy<uint8_t> in(patterns(kThreads * kBytes));
  const auto got = expect::results<uint8_t>(
      kThreads * kBytes,
      [&](uint8_t* out) { part_kernel<kBytes><<<1, kThreads>>>(in, out); });
  expect::each(got, [](int i) {
    return i % kBytes < i / kBytes % (kBytes + 1) ? pattern(i) : 0;
  });
}

__global__ void ignored_kernel(const uint8_t* in, uint8_t* out, int below) {
  __shared__ alignas(16) uint8_t box[kThreads * 4];
  const int i = threadIdx.x;
  asm volatile(
      "{\n"
      ".reg .pred past;\n"
      "setp.ge.s32 past, %2, %3;\n"
      "cp.async.ca.shared.global [%0], [%1], 4, past;\n"
      "}" ::"r"(shared_address(box + i * 4)),
      "l"(in + i * 4), "r"(i), "r"(below)
      : "memory");
  write_out<4>(box, out);
}

void check_ignored() {
  const expect::Copy<uint8_t> in(patterns(kThreads * 4));
  for (int below : {0, 1, 40, kThreads}) {
    const auto got = expect::results<uint8_t>(kThreads * 4, [&](uint8_t* out) {
      ignored_kernel<<<1, kThreads>>>(in, out, below);
    });
    expect::each(got, [&](int i) { return i / 4 < below ? pattern(i) : 0; });
  }
}

// Who reads before the wait may find what was there. On the executor, which
// calls it a race, that is what there is as long as nobody has waited.
__global__ void early_kernel(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(16) uint8_t box[2 * kThreads * 4];
  const int i = threadIdx.x;
  uint8_t *const mine = box + i * 4, *const next = mine + kThreads * 4;
  *mine = 0;
  copy<4>(shared_address(mine), in + i * 4);
  asm volatile("cp.async.commit_group;" ::: "memory");
  out[3 * i] = *static_cast<volatile uint8_t*>(mine);
  *next = 0;
  copy<4>(shared_address(next), in + i * 4);
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[3 * i + 1] = *mine;
  out[3 * i + 2] = *static_cast<volatile uint8_t*>(next);
  wait_for_all();
}

void check_early() {
  const expect::Copy<uint8_t> in(patterns(kThreads * 4));
  const auto got = expect::results<uint8_t>(3 * kThreads, [&](uint8_t* out) {
    early_kernel<<<1, kThreads>>>(in, out);
  });
  const bool late = on_executor();
  bool early_is_old = true, then_is_new = true;
  for (int i = 0; i < kThreads; ++i) {
    for (const uint8_t early : {got[3 * i], got[3 * i + 2]})
      early_is_old &= early == 0 || (!late && early == pattern(4 * i));
    then_is_new &= got[3 * i + 1] == pattern(4 * i);
  }
  expect::is_true(early_is_old, "an early read finds what was there");
  expect::is_true(then_is_new, "a copy is there once it was waited for");
}

// Looks for no races, so that one does not end the suite.
void check_early_apart() {
  setenv("SIMT_CHECKS", "off", 1);
  const Ended ended = run_self("early");
  unsetenv("SIMT_CHECKS");
  expect::equal(ended.status, 0);
  if (ended.status != 0) std::cout << ended.output;
}

// ---- Groups ----------------------------------------------------------------

// A ring of stages, filled ahead of what is read. The lanes of a warp fill
// different numbers of them, and close as many groups.
constexpr int kStages = 4;
__global__ void ring_kernel(const int* in, int* out, int rounds) {
  __shared__ int ring[kStages][kThreads];
  const int i = threadIdx.x;
  const auto fill = [&](int round) {
    if (round < rounds)
      copy<4>(shared_address(&ring[round % kStages][i]),
              in + round * kThreads + i);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int round = 0; round < kStages - 1; ++round) fill(round);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    sum = sum * 3 + ring[round % kStages][(i + 1) % kThreads];
    fill(round + kStages - 1);
  }
  out[i] = sum;
}

void check_ring() {
  constexpr int kRounds = 11;
  std::vector<int> host(kRounds * kThreads);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * i);
  const expect::Copy<int> in(host);
  const auto got = expect::results<int>(kThreads, [&](int* out) {
    ring_kernel<<<1, kThreads>>>(in, out, kRounds);
  });
  expect::each(got, [&](int i) {
    int sum = 0;
    for (int round = 0; round < kRounds; ++round)
      sum = sum * 3 + host[round * kThreads + (i + 1) % kThreads];
    return sum;
  });
}

// Lanes of a warp close groups of their own.
__global__ void own_groups_kernel(const int* in, int* out) {
  __shared__ int box[2][32];
  const int i = threadIdx.x;
  copy<4>(shared_address(&box[0][i]), in + i);
  if (i % 2) asm volatile("cp.async.commit_group;" ::: "memory");
  copy<4>(shared_address(&box[1][i]), in + 32 + i);
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (i % 2) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    out[i] = box[0][i];
  } else {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[i] = box[0][i] + box[1][i];
  }
  wait_for_all();
}

void check_own_groups() {
  std::vector<int> host(64);
  for (int i = 0; i < 64; ++i) host[i] = 10 + i;
  const expect::Copy<int> in(host);
  const auto got = expect::results<int>(
      32, [&](int* out) { own_groups_kernel<<<1, 32>>>(in, out); });
  expect::each(got,
               [](int i) { return i % 2 ? 10 + i : 10 + i + 10 + 32 + i; });
}

// ---- CUDA's functions ------------------------------------------------------

__global__ void pipeline_kernel(const float4* in, float4* out, int n) {
  __shared__ float4 box[2][kThreads];
  const int i = threadIdx.x;
  const auto fill = [&](int turn) {
    if (turn < n) {
      const size_t missing = i % 3 == 2 ? 8 : 0;
      __pipeline_memcpy_async(&box[turn % 2][i], &in[turn * kThreads + i], 16,
                              missing);
    }
    __pipeline_commit();
  };
  fill(0);
  for (int turn = 0; turn < n; ++turn) {
    fill(turn + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    out[turn * kThreads + i] = box[turn % 2][kThreads - 1 - i];
    __syncthreads();
  }
}

void check_pipeline() {
  constexpr int kTurns = 5;
  std::vector<float4> host(kTurns * kThreads);
  for (size_t i = 0; i < host.size(); ++i) {
    const auto x = static_cast<float>(i);
    host[i] = {x, x + 0.25f, x + 0.5f, x + 0.75f};
  }
  const expect::Copy<float4> in(host);
  const auto got = expect::results<float4>(kTurns * kThreads, [&](float4* out) {
    pipeline_kernel<<<1, kThreads>>>(in, out, kTurns);
  });
  std::vector<float> flat(4 * got.size());
  std::memcpy(flat.data(), got.data(), 4 * flat.size());
  expect::each(flat, [](int k) {
    const int i = k / 4, turn = i / kThreads,
              from = kThreads - 1 - i % kThreads;
    const bool missing = from % 3 == 2 && k % 4 >= 2;
    return missing ? 0.f : turn * kThreads + from + 0.25f * (k % 4);
  });
}

// A group copies any number of bytes, aligned or not, in two batches.
__global__ void group_kernel(const uint8_t* in, uint8_t* out, int n, int skip) {
  extern __shared__ uint8_t box[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, box, in + skip, n);
  cg::memcpy_async(block, box + n, in, n);
  cg::wait_prior<1>(block);
  for (int k = threadIdx.x; k < n; k += kThreads) out[k] = box[k];
  cg::wait(block);
  for (int k = threadIdx.x; k < n; k += kThreads) out[n + k] = box[n + k];
}

__global__ void tile_kernel(const int4* in, int4* out) {
  __shared__ int4 box[kThreads];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int first = tile.meta_group_rank() * 32;
  cg::memcpy_async(tile, box + first, in + first, 32 * sizeof(int4));
  cg::wait(tile);
  out[threadIdx.x] = box[first + 31 - tile.thread_rank()];
}

void check_groups() {
  const expect::Copy<uint8_t> in(patterns(4096));
  for (int n : {1, 4, 30, 1000, 1024})
    for (int skip : {0, 1, 4, 16}) {
      const auto got = expect::results<uint8_t>(2 * n, [&](uint8_t* out) {
        group_kernel<<<1, kThreads, 2 * 1024>>>(in, out, n, skip);
      });
      expect::each(got,
                   [&](int i) { return pattern(i < n ? i + skip : i - n); });
    }
  std::vector<int4> host(kThreads);
  for (int i = 0; i < kThreads; ++i) host[i] = {i, i * i, -i, i + 1};
  const expect::Copy<int4> vectors(host);
  const auto got = expect::results<int4>(
      kThreads, [&](int4* out) { tile_kernel<<<1, kThreads>>>(vectors, out); });
  bool same = true;
  for (int i = 0; i < kThreads; ++i)
    same &= std::memcmp(&got[i], &host[i / 32 * 32 + 31 - i % 32], 16) == 0;
  expect::is_true(same, "each tile copies its part");
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    check_early();
    return expect::report();
  }
  check_early_apart();
  check_whole<4, false>();
  check_whole<8, false>();
  check_whole<16, false>();
  check_whole<16, true>();
  check_part<4>();
  check_part<8>();
  check_part<16>();
  check_ignored();
  check_ring();
  check_own_groups();
  check_pipeline();
  check_groups();
  return expect::report();
}
