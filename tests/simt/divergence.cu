// Warp collectives in code that not every lane runs: each names the lanes it
// needs, and the result depends on those alone, however the warp is scheduled.

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

constexpr unsigned kAll = 0xffffffff;

// The two sides of a branch shuffle separately, then together.
__global__ void two_sides_kernel(int* out) {
  const int lane = threadIdx.x % 32;
  int value = lane;
  if (lane < 12) {
    for (int step = 1; step < 4; ++step) {
      value += __shfl_sync(0x00000fff, value, (lane + step) % 12);
    }
  } else {
    value = __ballot_sync(0xfffff000, lane % 3 == 0);
  }
  out[threadIdx.x] = __shfl_xor_sync(kAll, value, 16);
}

void check_two_sides() {
  const auto got = expect::results<int>(
      64, [](int* out) { two_sides_kernel<<<1, 64>>>(out); });
  int low[12];
  for (int i = 0; i < 12; ++i) low[i] = i;
  for (int step = 1; step < 4; ++step) {
    int next[12];
    for (int i = 0; i < 12; ++i) next[i] = low[i] + low[(i + step) % 12];
    std::copy(next, next + 12, low);
  }
  unsigned ballot = 0;
  for (int i = 12; i < 32; ++i) ballot |= (i % 3 == 0 ? 1u : 0u) << i;
  expect::each(got, [&](int i) {
    const int other = i % 32 ^ 16;
    return other < 12 ? low[other] : static_cast<int>(ballot);
  });
}

// One instruction, several groups: every lane names only its own.
__global__ void groups_kernel(int* out) {
  const int lane = threadIdx.x;
  const unsigned group = __match_any_sync(kAll, lane * lane % 7);
  const int leader = __ffs(group) - 1;
  int sum = 0;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    sum += __shfl_sync(group, lane, __ffs(rest) - 1);
  }
  const int from_leader = __shfl_sync(group, lane * 100, leader);
  const unsigned ballot = __ballot_sync(group, lane % 2);
  __syncwarp(group);
  out[3 * lane] = sum;
  out[3 * lane + 1] = from_leader;
  out[3 * lane + 2] = ballot;
}

void check_groups() {
  const auto got =
      expect::results<int>(96, [](int* out) { groups_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int i) {
    const int lane = i / 3;
    int sum = 0, leader = -1;
    unsigned odd = 0;
    for (int other = 0; other < 32; ++other) {
      if (other * other % 7 != lane * lane % 7) continue;
      if (leader < 0) leader = other;
      sum += other;
      odd |= static_cast<unsigned>(other % 2) << other;
    }
    const int answers[] = {sum, leader * 100, static_cast<int>(odd)};
    return answers[i % 3];
  });
}

// Lanes leave a loop one by one; the others go on voting, with a mask they
// all compute the same.
__global__ void leaving_kernel(unsigned* out) {
  const int lane = threadIdx.x;
  unsigned active = kAll;
  unsigned rounds = 0;
  while (true) {
    const unsigned staying =
        __ballot_sync(active, lane > static_cast<int>(rounds));
    if ((staying >> lane & 1) == 0) break;
    active = staying;
    ++rounds;
  }
  out[2 * lane] = rounds;
  out[2 * lane + 1] = __shfl_sync(kAll, rounds, 31 - lane);
}

void check_leaving() {
  const auto got = expect::results<unsigned>(
      64, [](unsigned* out) { leaving_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int i) { return i % 2 == 0 ? i / 2 : 31 - i / 2; });
}

// The same collective written at two places: each is met by its own lanes,
// and a full-mask one after the branch is met by all of them.
__device__ __noinline__ int sum_of(unsigned mask, int value) {
  int sum = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    sum += __shfl_sync(mask, value, __ffs(rest) - 1);
  }
  return sum;
}

__global__ void switch_kernel(int* out) {
  const int lane = threadIdx.x;
  int value = 0;
  switch (lane % 4) {
    case 0:
      value = sum_of(0x11111111, lane);
      break;
    case 1:
      value = -sum_of(0x22222222, lane);
      [[fallthrough]];
    case 2:
      value += 1000 + __popc(__ballot_sync(0x66666666, value == 0));
      break;
    default:
      value = sum_of(0x88888888, lane * lane);
  }
  out[2 * lane] = value;
  out[2 * lane + 1] = sum_of(kAll, value);
}

void check_switch() {
  const auto got =
      expect::results<int>(64, [](int* out) { switch_kernel<<<1, 32>>>(out); });
  int value[32], total = 0;
  for (int lane = 0; lane < 32; ++lane) {
    int sum = 0;
    for (int i = lane % 4; i < 32; i += 4) sum += lane % 4 == 3 ? i * i : i;
    if (lane % 4 == 1) sum = 1008 - sum;
    if (lane % 4 == 2) sum = 1008;
    value[lane] = sum;
    total += sum;
  }
  expect::each(got, [&](int i) { return i % 2 == 0 ? value[i / 2] : total; });
}

// Nested divergence: every lane takes its own path through two loops, a break
// and a continue, and arrives at the barrier of its warp all the same.
__global__ void nested_kernel(int* out) {
  const int lane = threadIdx.x;
  int steps = 0;
  for (int i = 0; i <= lane; ++i) {
    if (i % 3 == 1) continue;
    for (int j = i; j > 0; j = j % 2 == 0 ? j / 2 : j - 1) {
      if (j % 7 == 6) break;
      ++steps;
    }
  }
  __syncwarp();
  out[2 * lane] = steps;
  out[2 * lane + 1] = __shfl_down_sync(kAll, steps, 1);
}

int nested_steps(int lane) {
  int steps = 0;
  for (int i = 0; i <= lane; ++i) {
    if (i % 3 == 1) continue;
    for (int j = i; j > 0; j = j % 2 == 0 ? j / 2 : j - 1) {
      if (j % 7 == 6) break;
      ++steps;
    }
  }
  return steps;
}

void check_nested() {
  const auto got =
      expect::results<int>(64, [](int* out) { nested_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int i) {
    return nested_steps(i % 2 == 0 ? i / 2 : std::min(31, i / 2 + 1));
  });
}

// Lanes of one warp that wait for each other: with independent thread
// scheduling a waiting lane must not keep the one it waits for from running.
__global__ void producer_kernel(int* out, int turns) {
  __shared__ volatile int box;
  __shared__ volatile int full;
  const int lane = threadIdx.x;
  if (lane == 0) full = 0;
  __syncwarp();
  int sum = 0;
  if (lane == 5) {
    for (int turn = 0; turn < turns; ++turn) {
      while (full != 0) {
      }
      box = turn * turn;
      __threadfence_block();
      full = 1;
    }
  } else if (lane == 20) {
    for (int turn = 0; turn < turns; ++turn) {
      while (full == 0) {
      }
      __threadfence_block();
      sum += box;
      __threadfence_block();
      full = 0;
    }
  }
  __syncwarp();
  out[lane] = sum;
}

void check_producer() {
  const auto got = expect::results<int>(
      32, [](int* out) { producer_kernel<<<1, 32>>>(out, 20); });
  expect::each(got, [](int lane) { return lane == 20 ? 2470 : 0; });
}

// A lock taken by each lane of a warp in turn.
__global__ void lock_kernel(int* out, int* lock) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      volatile int* counter = out;
      *counter = *counter + static_cast<int>(threadIdx.x);
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The textbook form, in which the loop's exit is the critical section.
__global__ void textbook_lock_kernel(int* out, int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  volatile int* counter = out;
  *counter = *counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

void check_locks() {
  auto got = expect::results<int>(
      2, [](int* out) { lock_kernel<<<3, 48>>>(out, out + 1); });
  expect::equal(got[0], 3 * 48 * 47 / 2);
  got = expect::results<int>(
      2, [](int* out) { textbook_lock_kernel<<<2, 40>>>(out, out + 1); });
  expect::equal(got[0], 80);
}

// What a lane does between two looks at what it waits for.
enum class While { kNothing, kCounts, kCountsInMemory, kSleeps, kDiverges };

template <While how>
__device__ void pass_time(int& rounds, volatile int* memory) {
  if (how == While::kCounts) ++rounds;
  if (how == While::kCountsInMemory) *memory = *memory + 1;
  if (how == While::kSleeps) __nanosleep(20);
  if (how == While::kDiverges) {
    if ((rounds + threadIdx.x) % 3 == 0) {
      rounds += *memory + 1;
    } else {
      ++rounds;
    }
  }
}

struct Counted {
  int lock, counter, rounds;
  int memory[2][64];  // a word for each thread
};

// The lanes leave the loop one by one, and the critical section is behind it:
// who has the lock must not wait for those who want it.
template <While how>
__global__ void behind_lock_kernel(Counted* c) {
  int rounds = 0;
  while (atomicCAS(&c->lock, 0, 1) != 0)
    pass_time<how>(rounds, c->memory[blockIdx.x] + threadIdx.x);
  __threadfence();
  volatile int* counter = &c->counter;
  *counter = *counter + 1;
  __threadfence();
  atomicExch(&c->lock, 0);
  atomicAdd(&c->rounds, rounds);
}

// The same with a number for each lane, and all served in turn.
template <While how>
__global__ void ticket_kernel(Counted* c) {
  int rounds = 0;
  const int mine = atomicAdd(&c->lock, 1);
  volatile int* served = &c->counter;
  while (*served != mine)
    pass_time<how>(rounds, c->memory[blockIdx.x] + threadIdx.x);
  __threadfence();
  *served = mine + 1;
  atomicAdd(&c->rounds, rounds);
}

// A lane that does not get the lock does something else, and breaks out of the
// loop from within.
template <While how>
__global__ void try_lock_kernel(Counted* c) {
  int rounds = 0;
  for (;;) {
    if (atomicCAS(&c->lock, 0, 1) == 0) break;
    pass_time<how>(rounds, c->memory[blockIdx.x] + threadIdx.x);
    if (threadIdx.x % 2 == 0) {
      if (atomicCAS(&c->lock, 0, 1) == 0) break;
    }
  }
  __threadfence();
  volatile int* counter = &c->counter;
  *counter = *counter + 1;
  __threadfence();
  atomicExch(&c->lock, 0);
  atomicAdd(&c->rounds, rounds);
}

template <While how>
void check_waits() {
  for (const auto kernel :
       {behind_lock_kernel<how>, ticket_kernel<how>, try_lock_kernel<how>}) {
    const auto got =
        expect::results<Counted>(1, [&](Counted* c) { kernel<<<2, 64>>>(c); });
    expect::equal(got[0].counter, 128);
  }
}

// One lane hands values to another, with every way to look and to wait.
template <int how>
__device__ int look(int* flag) {
  if (how == 1) return atomicAdd(flag, 0);
  if (how == 2) __nanosleep(10);
  if (how == 3) __syncwarp(1u << threadIdx.x % 32);
  if (how == 4) __threadfence_block();
  if (how == 5)
    return __any_sync(1u << threadIdx.x % 32,
                      *static_cast<volatile int*>(flag));
  return *static_cast<volatile int*>(flag);
}

template <int how>
__global__ void handing_kernel(int* out) {
  __shared__ int full, box;
  const int lane = threadIdx.x;
  if (lane == 0) full = 0;
  __syncwarp();
  int sum = 0;
  if (lane == 3 || lane == 30) {
    for (int turn = 0; turn < 20; ++turn) {
      const int wanted = lane == 30;
      while (look<how>(&full) != wanted) {
      }
      __threadfence_block();
      volatile int* data = &box;
      if (lane == 3)
        *data = turn * turn;
      else
        sum += *data;
      __threadfence_block();
      atomicExch(&full, lane == 3);
    }
  }
  out[lane] = __shfl_sync(kAll, sum, 30);
}

template <int how>
void check_handing() {
  const auto got = expect::results<int>(
      32, [](int* out) { handing_kernel<how><<<1, 32>>>(out); });
  expect::each(got, [](int) { return 2470; });
}

// The active lanes at a point are only a hint, but they always include the
// caller.
__global__ void active_kernel(unsigned* out) {
  const int lane = threadIdx.x;
  if (lane % 2 == 0) {
    out[lane] = __activemask();
  } else {
    out[lane] = __activemask();
  }
}

void check_active() {
  const auto got = expect::results<unsigned>(
      32, [](unsigned* out) { active_kernel<<<1, 32>>>(out); });
  bool holds = true;
  for (int lane = 0; lane < 32; ++lane) holds &= got[lane] >> lane & 1;
  expect::is_true(holds, "activemask includes the lane that asks");
}

}  // namespace

int main() {
  check_two_sides();
  check_groups();
  check_leaving();
  check_switch();
  check_nested();
  check_producer();
  check_locks();
  check_waits<While::kNothing>();
  check_waits<While::kCounts>();
  check_waits<While::kCountsInMemory>();
  check_waits<While::kSleeps>();
  check_waits<While::kDiverges>();
  check_handing<0>();
  check_handing<1>();
  check_handing<2>();
  check_handing<3>();
  check_handing<4>();
  check_handing<5>();
  check_active();
  return expect::report();
}
