// Votes, matches, reductions and the registers that describe a warp.

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

constexpr unsigned kAll = 0xffffffff;

__global__ void vote_kernel(unsigned* out, unsigned mask, unsigned truth) {
  const int lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int predicate = truth >> lane & 1;
  out[4 * lane] = __any_sync(mask, predicate);
  out[4 * lane + 1] = __all_sync(mask, predicate);
  out[4 * lane + 2] = __ballot_sync(mask, predicate);
  out[4 * lane + 3] = __uni_sync(mask, predicate);
}

void check_votes() {
  const unsigned patterns[] = {0, 1, 0x80000000, kAll, 0xfffffffe, 0xff00ff00};
  for (unsigned mask : {kAll, 1u, 0x80000000u, 0xffffu, 0xaaaaaaaau}) {
    for (unsigned truth : patterns) {
      const auto got = expect::results<unsigned>(128, [&](unsigned* out) {
        vote_kernel<<<1, 32>>>(out, mask, truth);
      });
      expect::each(got, [&](int i) {
        if ((mask >> i / 4 & 1) == 0) return 0u;
        const unsigned set = truth & mask;
        const unsigned answers[] = {set != 0, set == mask, set,
                                    set == 0 || set == mask};
        return answers[i % 4];
      });
    }
  }
}

template <typename T>
__global__ void match_any_kernel(unsigned* out, T high, unsigned mask) {
  const int lane = threadIdx.x;
  const T value = high + static_cast<T>(lane % 5);
  if (mask >> lane & 1) out[lane] = __match_any_sync(mask, value);
}

template <typename T>
__global__ void match_all_kernel(unsigned* out, T high, unsigned mask,
                                 int odd_lane) {
  const int lane = threadIdx.x;
  const T value = lane == odd_lane ? high + 1 : high;
  if ((mask >> lane & 1) == 0) return;
  int same = -1;
  out[2 * lane] = __match_all_sync(mask, value, &same);
  out[2 * lane + 1] = same != 0;
}

template <typename T>
void check_match(T high) {
  for (unsigned mask : {kAll, 0x0fffffffu, 0x55555555u, 0x00010000u}) {
    const auto any = expect::results<unsigned>(32, [&](unsigned* out) {
      match_any_kernel<<<1, 32>>>(out, high, mask);
    });
    expect::each(any, [&](int lane) {
      unsigned group = 0;
      for (int i = lane % 5; i < 32; i += 5) group |= 1u << i;
      return mask >> lane & 1 ? group & mask : 0u;
    });
    for (int odd_lane : {-1, 0, 1, 16, 31}) {
      const auto all = expect::results<unsigned>(64, [&](unsigned* out) {
        match_all_kernel<<<1, 32>>>(out, high, mask, odd_lane);
      });
      const unsigned odd = odd_lane < 0 ? 0 : mask & 1u << odd_lane;
      const bool same = odd == 0 || odd == mask;
      expect::each(all, [&](int i) {
        if ((mask >> i / 2 & 1) == 0 || !same) return 0u;
        return i % 2 == 0 ? mask : 1u;
      });
    }
  }
}

__host__ __device__ unsigned value_of(int lane) {
  return lane * 2654435761u ^ 0x5a5a;
}

// The instructions exist from sm_80 on; elsewhere the checks are left out.
__global__ void reduce_kernel(unsigned* out, unsigned mask) {
#if __CUDA_ARCH__ >= 800
  const int lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const unsigned value = value_of(lane);
  const int number = static_cast<int>(value);
  unsigned* mine = out + 8 * lane;
  mine[0] = __reduce_add_sync(mask, value);
  mine[1] = __reduce_min_sync(mask, value);
  mine[2] = __reduce_max_sync(mask, value);
  mine[3] = __reduce_and_sync(mask, value | 0x11);
  mine[4] = __reduce_or_sync(mask, value);
  mine[5] = __reduce_xor_sync(mask, value);
  mine[6] = __reduce_min_sync(mask, number);
  mine[7] = __reduce_max_sync(mask, number);
#endif
}

void check_reduce() {
  int major = 0;
  expect::ok(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 8) {
    std::cout << "no redux.sync before sm_80: its checks are left out\n";
    return;
  }
  for (unsigned mask : {kAll, 0x8u, 0xf0f0f0f0u, 0x80000001u, 0x1ffffu}) {
    const auto got = expect::results<unsigned>(
        256, [&](unsigned* out) { reduce_kernel<<<1, 32>>>(out, mask); });
    unsigned sum = 0, low = kAll, high = 0, both = kAll, either = 0, odd = 0;
    int lowest = INT32_MAX, highest = INT32_MIN;
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const unsigned value = value_of(lane);
      const int number = static_cast<int>(value);
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
      both &= value | 0x11;
      either |= value;
      odd ^= value;
      lowest = std::min(lowest, number);
      highest = std::max(highest, number);
    }
    const unsigned answers[] = {sum,
                                low,
                                high,
                                both,
                                either,
                                odd,
                                static_cast<unsigned>(lowest),
                                static_cast<unsigned>(highest)};
    expect::each(
        got, [&](int i) { return mask >> i / 8 & 1 ? answers[i % 8] : 0u; });
  }
}

__global__ void lane_registers_kernel(unsigned* out) {
  unsigned* mine = out + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  asm("mov.u32 %0, %%laneid;" : "=r"(mine[0]));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(mine[1]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mine[2]));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(mine[3]));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(mine[4]));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(mine[5]));
  mine[6] = __activemask();
  mine[7] = warpSize;
}

void check_lane_registers() {
  const auto got = expect::results<unsigned>(
      2 * 40 * 8, [](unsigned* out) { lane_registers_kernel<<<2, 40>>>(out); });
  expect::each(got, [](int i) {
    const int thread = i / 8 % 40;
    const unsigned lane = thread % 32;
    const unsigned equal = 1u << lane;
    const unsigned less = equal - 1;
    // The second warp of a block of 40 threads has eight lanes.
    const unsigned active = thread < 32 ? kAll : 0xffu;
    const unsigned answers[] = {
        lane, equal, less, less | equal, ~(less | equal), ~less, active, 32};
    return answers[i % 8];
  });
}

// Registers that only have to make sense.
__global__ void machine_registers_kernel(int* out) {
  unsigned sm, sms, warps, warp;
  unsigned long long time0, time1;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time0));
  const long long clock0 = clock64();
  const clock_t short0 = clock();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time1));
  const bool sensible = sm < sms && warp < warps && time1 >= time0 &&
                        clock64() >= clock0 && (clock() - short0) >= 0;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sensible;
}

// %nwarpid counts the warps that a multiprocessor has room for.
__global__ void room_kernel(int* warps) {
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(*warps));
}

void check_machine_registers() {
  cudaDeviceProp device = {};
  expect::ok(cudaGetDeviceProperties(&device, 0));
  const auto warps =
      expect::results<int>(1, [](int* out) { room_kernel<<<1, 1>>>(out); });
  expect::equal(warps[0], device.maxThreadsPerMultiProcessor / 32);
  const auto got = expect::results<int>(
      256, [](int* out) { machine_registers_kernel<<<4, 64>>>(out); });
  expect::each(got, [](int) { return 1; });
}

// A second on a GPU, and much less on the executor.
__global__ void waits_kernel(long long* waited, long long clocks) {
  const long long begin = clock64();
  long long now = begin;
  while (now - begin < clocks) now = clock64();
  waited[threadIdx.x] = now - begin;
}

// Nobody sets the first flag: each thread gives up after a second of a GPU's.
// The second one is set after a while, and nobody gives up before.
__global__ void patience_kernel(volatile int* flags, int* waited,
                                long long clocks) {
  const unsigned clocks32 = static_cast<unsigned>(clocks);
  const long long begin = clock64();
  const unsigned begin32 = clock();
  if (blockIdx.x == 1) {
    for (int k = 0; k < 3000; ++k) flags[2 + threadIdx.x] += k;
    if (threadIdx.x == 0) flags[1] = 1;
    return;
  }
  bool late = false;
  while (flags[1] == 0 && !late) late = clock64() - begin > 4 * clocks;
  waited[threadIdx.x] = late;
  if (threadIdx.x % 2)
    while (flags[0] == 0 && clock64() - begin < clocks) {
    }
  else
    while (flags[0] == 0 &&
           static_cast<unsigned>(clock()) - begin32 < clocks32) {
    }
  waited[threadIdx.x] += 2 * (clock64() - begin >= clocks);
}

void check_waits_with_patience() {
  int* flags = nullptr;
  expect::ok(cudaMalloc(&flags, (2 + 64) * sizeof *flags));
  expect::ok(cudaMemset(flags, 0, (2 + 64) * sizeof *flags));
  const auto got = expect::results<int>(64, [&](int* waited) {
    patience_kernel<<<2, 64>>>(flags, waited, 1'000'000'000);
  });
  expect::each(got, [](int) { return 2; });
  expect::ok(cudaFree(flags));
}

void check_waits_for_the_clock() {
  constexpr long long kClocks = 2'000'000'000;
  const auto waited = expect::results<long long>(
      64, [](long long* out) { waits_kernel<<<1, 64>>>(out, kClocks); });
  for (const long long clocks : waited)
    expect::is_true(clocks >= kClocks && clocks < kClocks / 8 * 9,
                    "not much longer than it waits");
}

// Memory written by one lane is seen by its warp after __syncwarp.
__global__ void syncwarp_kernel(int* out) {
  __shared__ int box[64];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int first = thread - lane;
  int value = thread;
  for (int step = 1; step < 32; step *= 2) {
    box[thread] = value;
    __syncwarp();
    value += box[first + (lane + step) % 32];
    __syncwarp();
  }
  out[thread] = value;
}

void check_syncwarp() {
  const auto got = expect::results<int>(
      64, [](int* out) { syncwarp_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) { return 496 + (i >= 32 ? 1024 : 0); });
}

}  // namespace

// Lanes leave one by one, and each vote is among those that are left. The
// compiler unrolls this loop: what is over four turns comes first, in a loop of
// its own, so some lanes cast their first vote here and some there.
__global__ void leave_kernel(const unsigned* turns, unsigned* out) {
  unsigned left = kAll, turn = turns[threadIdx.x] % 11;
  while (true) {
    const unsigned stay = __ballot_sync(left, turn != 0);
    if (turn-- == 0) break;
    left = stay;
  }
  out[threadIdx.x] = left;
}

void check_leaving() {
  std::vector<unsigned> turns(32);
  for (unsigned l = 0; l < 32; ++l) turns[l] = l * 7 + 3;
  const expect::Copy<unsigned> given(turns);
  const auto got = expect::results<unsigned>(
      32, [&](unsigned* out) { leave_kernel<<<1, 32>>>(given, out); });
  expect::each(got, [&](int lane) {
    unsigned left = 0;
    for (unsigned l = 0; l < 32; ++l)
      if (turns[l] % 11 >= turns[lane] % 11) left |= 1u << l;
    return left;
  });
}

int main() {
  check_votes();
  check_match<unsigned>(0);
  check_match<int>(-3);
  check_match<unsigned long long>(0x100000000ull);
  check_match<long long>(-0x7fffffff00000000ll);
  check_match<float>(-1.0f);
  check_match<double>(1e10);
  check_reduce();
  check_lane_registers();
  check_machine_registers();
  check_waits_for_the_clock();
  check_waits_with_patience();
  check_syncwarp();
  check_leaving();
  return expect::report();
}
