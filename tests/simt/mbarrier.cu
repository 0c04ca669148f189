// Barriers in shared memory: their phases and counts, who may go on and when,
// alone and with asynchronous copies; and cuda::barrier and cuda::pipeline.
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "tests/simt/expect.h"
#include "tests/simt/mbarrier.h"

namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace {

__device__ void init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)),
               "r"(count)
               : "memory");
}

__device__ uint64_t arrive(uint64_t* bar) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(shared_address(bar))
               : "memory");
  return state;
}

__device__ uint64_t arrive(uint64_t* bar, uint32_t count) {
  uint64_t state;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(shared_address(bar)), "r"(count)
               : "memory");
  return state;
}

__device__ uint64_t arrive_and_expect(uint64_t* bar, uint32_t bytes) {
  uint64_t state;
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;"
      : "=l"(state)
      : "r"(shared_address(bar)), "r"(bytes)
      : "memory");
  return state;
}

__device__ bool test(uint64_t* bar, uint64_t state) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(bar)), "l"(state)
      : "memory");
  return done;
}

__device__ bool test_parity(uint64_t* bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
  return done;
}

__device__ void wait(uint64_t* bar, uint64_t state) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.shared.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar)), "l"(state)
        : "memory");
}

__device__ void wait_parity(uint64_t* bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(shared_address(bar)), "r"(parity), "r"(1000)
        : "memory");
}

__device__ uint32_t pending(uint64_t state) {
  uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

// ---- One thread ------------------------------------------------------------

// What each step answers: how many were missing before it, and which of the two
// parities and whether its own phase is over behind it.
struct Log {
  int* out;
  uint64_t* bar;
  __device__ void step(uint64_t state) {
    *out++ = static_cast<int>(pending(state) * 8 + test_parity(bar, 0) * 4 +
                              test_parity(bar, 1) * 2 + test(bar, state));
  }
};

__global__ void steps_kernel(int* out) {
  __shared__ uint64_t bar;
  const uint32_t at = shared_address(&bar);
  Log log{out, &bar};
  init(&bar, 3);
  log.step(arrive(&bar));
  log.step(arrive(&bar));
  log.step(arrive(&bar));  // completes phase 0
  log.step(arrive(&bar));
  log.step(arrive(&bar, 2));  // and phase 1
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
  init(&bar, 8);
  uint64_t state;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 3;"
               : "=l"(state)
               : "r"(at)
               : "memory");
  log.step(state);
  log.step(arrive(&bar, 4));
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(at)
               : "memory");
  log.step(state);  // completes; from now on it is for 7
  log.step(arrive(&bar, 6));
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(at), "r"(1)
               : "memory");
  log.step(state);  // for 6
  log.step(arrive(&bar, 6));
}

void check_steps() {
  const auto got =
      expect::results<int>(11, [](int* out) { steps_kernel<<<1, 1>>>(out); });
  // As an H200 answers.
  const int missing[] = {3, 2, 1, 3, 2, 8, 5, 1, 7, 1, 6};
  const int over[] = {0b010, 0b010, 0b101, 0b100, 0b011, 0b010,
                      0b010, 0b101, 0b100, 0b011, 0b101};
  expect::each(got, [&](int i) { return missing[i] * 8 + over[i]; });
}

__global__ void bytes_kernel(int* out) {
  __shared__ uint64_t bar;
  const uint32_t at = shared_address(&bar);
  const auto expect_bytes = [&](uint32_t n) {
    asm volatile(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at),
        "r"(n)
        : "memory");
  };
  const auto bring = [&](uint32_t n) {
    asm volatile(
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at),
        "r"(n)
        : "memory");
  };
  init(&bar, 2);
  expect_bytes(100);
  bring(60);
  uint64_t state = arrive(&bar);
  state = arrive(&bar);
  *out++ = test(&bar, state);  // 40 are missing
  bring(40);
  *out++ = test(&bar, state);
  state = arrive_and_expect(&bar, 16);
  bring(20);  // more than was announced
  expect_bytes(4);
  *out++ = test(&bar, state);
  arrive(&bar);
  *out++ = test(&bar, state);
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
  init(&bar, 1);
  state = arrive_and_expect(&bar, 0xfffff);
  *out++ = test(&bar, state);
  bring(0xfffff);
  *out++ = test(&bar, state);
}

void check_bytes() {
  const auto got =
      expect::results<int>(6, [](int* out) { bytes_kernel<<<1, 1>>>(out); });
  expect::each(got, [](int i) { return i % 2; });
}

// ---- A block ----------------------------------------------------------------

// All threads meet again and again, and rotate an array.
__global__ void rotate_kernel(int* out, int rounds) {
  __shared__ uint64_t bar;
  __shared__ int ring[2][256];
  const int i = threadIdx.x, n = blockDim.x;
  if (i == 0) init(&bar, n);
  __syncthreads();
  ring[0][i] = i;
  wait(&bar, arrive(&bar));
  for (int round = 0; round < rounds; ++round) {
    ring[~round & 1][i] = ring[round & 1][(i + 1) % n];
    wait(&bar, arrive(&bar));
  }
  out[i] = ring[rounds & 1][i];
}

void check_rotate() {
  for (int n : {1, 31, 32, 33, 100, 256}) {
    const auto got = expect::results<int>(
        n, [&](int* out) { rotate_kernel<<<1, n>>>(out, 9); });
    expect::each(got, [&](int i) { return (i + 9) % n; });
  }
}

// One warp fills the stages of a ring, the others read them. A stage has two
// barriers: full and empty. Only one lane of each warp arrives.
constexpr int kStages = 3;
__global__ void ring_kernel(int* out, int rounds) {
  __shared__ uint64_t full[kStages], empty[kStages];
  __shared__ int ring[kStages][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int readers = blockDim.x / 32 - 1;
  if (threadIdx.x == 0)
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 32);
      init(&empty[s], readers);
    }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const int s = round % kStages, turn = round / kStages;
    if (warp == 0) {
      wait_parity(&empty[s], ~turn & 1);  // The first turn begins empty.
      ring[s][lane] = round * 100 + lane;
      arrive(&full[s]);
    } else {
      wait_parity(&full[s], turn & 1);
      sum += ring[s][(lane + warp) % 32] * (round + 1);
      __syncwarp();
      if (lane == 0) arrive(&empty[s]);
    }
  }
  out[threadIdx.x] = sum;
}

void check_ring() {
  for (int warps : {2, 4, 8}) {
    const auto got = expect::results<int>(
        32 * warps, [&](int* out) { ring_kernel<<<1, 32 * warps>>>(out, 10); });
    expect::each(got, [](int i) {
      if (i < 32) return 0;
      int sum = 0;
      for (int round = 0; round < 10; ++round)
        sum += (round * 100 + (i % 32 + i / 32) % 32) * (round + 1);
      return sum;
    });
  }
}

// ---- With asynchronous copies -----------------------------------------------

// `noinc`: the barrier has been told of the copies' arrivals before.
template <bool kNoinc>
__global__ void copies_kernel(const int* in, int* out, int rounds) {
  __shared__ uint64_t bar[2];
  __shared__ int box[2][96];
  const int i = threadIdx.x, n = blockDim.x;
  if (i < 2) init(&bar[i], n);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const int s = round & 1;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                     shared_address(&box[s][i])),
                 "l"(in + round * n + i)
                 : "memory");
    if (kNoinc) {
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                       shared_address(&bar[s]))
                   : "memory");
    } else {
      asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                       shared_address(&bar[s]))
                   : "memory");
      arrive(&bar[s]);
    }
    wait_parity(&bar[s], round / 2 & 1);
    sum = sum * 3 + box[s][(i + 1) % n];
  }
  out[i] = sum;
}

void check_copies() {
  constexpr int kThreads = 96, kRounds = 6;
  std::vector<int> host(kThreads * kRounds);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * i);
  const expect::Copy<int> in(host);
  for (bool noinc : {false, true}) {
    const auto got = expect::results<int>(kThreads, [&](int* out) {
      if (noinc)
        copies_kernel<true><<<1, kThreads>>>(in, out, kRounds);
      else
        copies_kernel<false><<<1, kThreads>>>(in, out, kRounds);
    });
    expect::each(got, [&](int i) {
      int sum = 0;
      for (int round = 0; round < kRounds; ++round)
        sum = sum * 3 + host[round * kThreads + (i + 1) % kThreads];
      return sum;
    });
  }
}

// ---- CUDA's classes ---------------------------------------------------------

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// A barrier's storage: the class has a constructor, which __shared__ forbids.
struct alignas(Barrier) Room {
  char bytes[sizeof(Barrier)];
  __device__ Barrier& barrier() { return *reinterpret_cast<Barrier*>(bytes); }
};

__global__ void class_kernel(const int* in, int* out) {
  __shared__ Room room;
  __shared__ int box[128];
  Barrier& bar = room.barrier();
  const int i = threadIdx.x;
  if (i == 0) init(&bar, blockDim.x);
  __syncthreads();
  box[i] = in[i];
  auto token = bar.arrive();
  int sum = i;  // Work of its own, meanwhile.
  bar.wait(std::move(token));
  sum += box[127 - i];
  bar.arrive_and_wait();
  cuda::memcpy_async(&box[i], &in[128 + i], sizeof(int), bar);
  bar.arrive_and_wait();
  sum += box[127 - i];
  if (i < 64) {
    bar.arrive_and_drop();
  } else {
    bar.arrive_and_wait();
    box[i] = sum;
    bar.arrive_and_wait();
    sum = box[191 - i];
  }
  out[i] = sum;
}

__global__ void group_kernel(const int* in, int* out) {
  __shared__ Room room;
  __shared__ alignas(16) int box[256];
  Barrier& bar = room.barrier();
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, box, in, cuda::aligned_size_t<16>(sizeof box), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = box[255 - threadIdx.x];
}

// Two stages: one is copied while the other one is read.
__global__ void pipeline_kernel(const int* in, int* out, int rounds) {
  __shared__ int box[2][64];
  const auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  const int i = threadIdx.x;
  int sum = 0;
  const auto fill = [&](int round) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, box[round % 2], in + round * 64, 256, pipe);
    pipe.producer_commit();
  };
  fill(0);
  for (int round = 0; round < rounds; ++round) {
    if (round + 1 < rounds) fill(round + 1);
    pipe.consumer_wait();
    sum = sum * 3 + box[round % 2][63 - i];
    pipe.consumer_release();
  }
  out[i] = sum;
}

// The first warp is the producer, the second one the consumer.
__global__ void roles_kernel(const int* in, int* out, int rounds) {
  __shared__ int box[2][32];
  const auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const bool produces = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(
      block, &state,
      produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (produces) {
      pipe.producer_acquire();
      cuda::memcpy_async(&box[round % 2][lane], &in[round * 32 + lane], 4,
                         pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum = sum * 3 + box[round % 2][31 - lane];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

// Of a thread alone: groups of cp.async.
__global__ void own_pipeline_kernel(const int* in, int* out, int rounds) {
  __shared__ int box[2][64];
  auto pipe = cuda::make_pipeline();
  const int i = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < rounds + 1; ++round) {
    pipe.producer_acquire();
    if (round < rounds)
      cuda::memcpy_async(&box[round % 2][i], &in[round * 64 + i], 4, pipe);
    pipe.producer_commit();
    if (round == 0) continue;
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    sum = sum * 3 + box[(round - 1) % 2][i];
    pipe.consumer_release();
  }
  out[i] = sum;
}

void check_classes() {
  std::vector<int> host(1024);
  for (int i = 0; i < 1024; ++i) host[i] = i * 5 + i / 100;
  const expect::Copy<int> in(host);
  const auto classes = expect::results<int>(
      128, [&](int* out) { class_kernel<<<1, 128>>>(in, out); });
  expect::each(classes, [&](int i) {
    const int from = i < 64 ? i : 191 - i;
    return from + host[127 - from] + host[128 + 127 - from];
  });
  const auto group = expect::results<int>(
      256, [&](int* out) { group_kernel<<<1, 256>>>(in, out); });
  expect::each(group, [&](int i) { return host[255 - i]; });
  const auto fold = [&](int width, int rounds, int from) {
    int sum = 0;
    for (int round = 0; round < rounds; ++round)
      sum = sum * 3 + host[round * width + from];
    return sum;
  };
  const auto pipeline = expect::results<int>(
      64, [&](int* out) { pipeline_kernel<<<1, 64>>>(in, out, 7); });
  expect::each(pipeline, [&](int i) { return fold(64, 7, 63 - i); });
  const auto roles = expect::results<int>(
      64, [&](int* out) { roles_kernel<<<1, 64>>>(in, out, 7); });
  expect::each(roles,
               [&](int i) { return i < 32 ? 0 : fold(32, 7, 31 - i % 32); });
  const auto own = expect::results<int>(
      64, [&](int* out) { own_pipeline_kernel<<<1, 64>>>(in, out, 7); });
  expect::each(own, [&](int i) { return fold(64, 7, i); });
}

}  // namespace

int main() {
  check_steps();
  check_bytes();
  check_rotate();
  check_ring();
  check_copies();
  check_classes();
  return expect::report();
}
