// Blocks that need each other: cooperative groups, a barrier of the whole
// grid, look-back, the last block, locks; and the host.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "tests/simt/expect.h"

namespace cg = cooperative_groups;

namespace {

__global__ void block_group_kernel(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ int box[256];
  const int rank = block.thread_rank();
  box[rank] = rank;
  block.sync();
  const int other = box[block.size() - 1 - rank];
  cg::sync(block);
  const dim3 at = block.thread_index();
  const bool right = at.x == threadIdx.x && at.y == threadIdx.y &&
                     block.group_index().x == blockIdx.x;
  out[blockIdx.x * block.size() + rank] = right ? other : -1;
}

void check_block_group() {
  const auto got = expect::results<int>(
      3 * 60, [](int* out) { block_group_kernel<<<3, dim3(20, 3)>>>(out); });
  expect::each(got, [](int i) { return 59 - i % 60; });
}

template <int kSize>
__global__ void tile_kernel(int* out) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const int i = threadIdx.x;
  const int rank = tile.thread_rank();
  int* mine = out + 8 * i;
  mine[0] = rank + 100 * tile.meta_group_rank();
  mine[1] = tile.shfl(i, 0);
  mine[2] = tile.shfl_xor(i, kSize / 2);
  mine[3] = tile.ballot(rank % 2 == 1);
  mine[4] = tile.any(rank == kSize - 1) * 10 + tile.all(rank < kSize);
  mine[5] = cg::reduce(tile, i, cg::plus<int>());
  mine[6] = cg::reduce(tile, i ^ 5, cg::greater<int>());
  mine[7] = cg::inclusive_scan(tile, i, cg::plus<int>());
  tile.sync();
}

template <int kSize>
void check_tile(expect::Where where = expect::Where::current()) {
  const auto got = expect::results<int>(
      8 * 96, [](int* out) { tile_kernel<kSize><<<1, 96>>>(out); });
  expect::each(
      got,
      [](int k) {
        const int i = k / 8, rank = i % kSize, first = i - rank;
        unsigned odd = 0;
        int sum = 0, largest = 0, prefix = 0;
        for (int r = 0; r < kSize; ++r) {
          odd |= static_cast<unsigned>(r % 2) << r;
          sum += first + r;
          largest = std::max(largest, (first + r) ^ 5);
          if (r <= rank) prefix += first + r;
        }
        const int other = kSize == 1 ? i : i ^ kSize / 2;
        const int answers[] = {rank + 100 * (i / kSize),
                               first,
                               other,
                               static_cast<int>(odd),
                               11,
                               sum,
                               largest,
                               prefix};
        return answers[k % 8];
      },
      where);
}

// Tiles of several warps, which hand on values through shared memory that the
// program does not see; beside some of its own.
constexpr int kLargeAnswers = 6;

template <int kSize>
__global__ void large_tile_kernel(int* out) {
  __shared__ int values[1024];
  extern __shared__ int copies[];
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const int i = threadIdx.x, rank = tile.thread_rank(), first = i - rank;
  values[i] = i;
  tile.sync();
  copies[i] = values[first + kSize - 1 - rank];
  tile.sync();
  int* const answers = out + kLargeAnswers * i;
  answers[0] = copies[first + kSize - 1 - rank];
  answers[1] = tile.shfl(i + 1, 37);
  answers[2] = tile.any(i % 300 == 77) + 2 * tile.all(i < 700);
  answers[3] = cg::reduce(tile, i, cg::plus<int>());
  answers[4] = cg::inclusive_scan(tile, i % 5, cg::plus<int>());
  answers[5] = tile.meta_group_rank() * 1000 + rank;
}

template <int kSize>
void check_large_tile() {
  constexpr int kThreads = 1024;
  const auto got = expect::results<int>(kLargeAnswers * kThreads, [](int* out) {
    large_tile_kernel<kSize><<<1, kThreads, kThreads * sizeof(int)>>>(out);
  });
  expect::each(got, [](int k) {
    const int i = k / kLargeAnswers, rank = i % kSize, first = i - rank;
    int sum = 0, prefix = 0;
    bool any = false, all = true;
    for (int r = 0; r < kSize; ++r) {
      any |= (first + r) % 300 == 77;
      all &= first + r < 700;
      sum += first + r;
      if (r <= rank) prefix += (first + r) % 5;
    }
    const int answers[] = {i,   first + 38, any + 2 * all,
                           sum, prefix,     i / kSize * 1000 + rank};
    return answers[k % kLargeAnswers];
  });
}

// A tile of a tile, in a part of the block that goes on alone.
__global__ void nested_tile_kernel(int* out) {
  const auto half = cg::tiled_partition<128>(cg::this_thread_block());
  const auto quarter = cg::tiled_partition<64>(half);
  const int i = threadIdx.x;
  if (half.meta_group_rank() == 0)
    for (int round = 0; round < i / 64 + 1; ++round)
      out[i] += cg::reduce(quarter, i, cg::plus<int>());
  else
    out[i] = quarter.meta_group_rank() + 10 * half.shfl(i, 100);
}

void check_nested_tile() {
  const auto got = expect::results<int>(
      256, [](int* out) { nested_tile_kernel<<<1, 256>>>(out); });
  expect::each(got, [](int i) {
    const int first = i / 64 * 64;
    if (i >= 128) return first / 64 % 2 + 10 * 228;
    return (i / 64 + 1) * (64 * first + 2016);
  });
}

// Whichever lanes are here form a group.
__global__ void coalesced_kernel(int* out) {
  const int i = threadIdx.x;
  if (i % 3 != 0) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  out[2 * i] = active.shfl(i, 0) + 1000 * active.size();
  out[2 * i + 1] = cg::reduce(active, i, cg::plus<int>());
}

void check_coalesced() {
  const auto got = expect::results<int>(
      64, [](int* out) { coalesced_kernel<<<1, 32>>>(out); });
  // Which lanes are together is the hardware's choice: here, all that stay.
  expect::each(got, [](int k) {
    if (k / 2 % 3 != 0) return 0;
    return k % 2 == 0 ? 11000 : 165;
  });
}

// Groups that share a label.
__global__ void labeled_kernel(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = threadIdx.x;
  const auto group = cg::labeled_partition(warp, i * i % 5);
  out[i] = cg::reduce(group, i, cg::plus<int>());
  const auto halves = cg::binary_partition(warp, i % 4 == 1);
  out[32 + i] = halves.size() * 100 + halves.thread_rank();
}

void check_labeled() {
  const auto got = expect::results<int>(
      64, [](int* out) { labeled_kernel<<<1, 32>>>(out); });
  expect::each(got, [](int k) {
    const int i = k % 32;
    int sum = 0, same = 0, before = 0;
    for (int j = 0; j < 32; ++j) {
      if (j * j % 5 == i * i % 5) sum += j;
      const bool alike = (j % 4 == 1) == (i % 4 == 1);
      same += alike;
      before += alike && j < i;
    }
    return k < 32 ? sum : same * 100 + before;
  });
}

// All blocks meet: each round reads what other blocks wrote in the last.
__global__ void grid_kernel(int* values, int* out, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  const int n = static_cast<int>(grid.size());
  values[i] = i;
  for (int round = 0; round < rounds; ++round) {
    grid.sync();
    const int other = values[(i + 97) % n];
    grid.sync();
    values[i] = other;
  }
  grid.sync();
  out[i] = values[n - 1 - i];
}

void check_grid(int blocks, int threads) {
  const int n = blocks * threads;
  const auto got = expect::results<int>(2 * n, [&](int* values) {
    int* out = values + n;
    int rounds = 5;
    void* arguments[] = {&values, &out, &rounds};
    expect::ok(cudaLaunchCooperativeKernel(grid_kernel, blocks, threads,
                                           arguments, 0, nullptr));
  });
  expect::each(std::vector<int>(got.begin() + n, got.end()),
               [&](int i) { return (n - 1 - i + 5 * 97) % n; });
}

// While others come, each block looks at a word that changes with every one.
void check_full_grid() {
  int multiprocessors = 0;
  expect::ok(cudaDeviceGetAttribute(&multiprocessors,
                                    cudaDevAttrMultiProcessorCount, 0));
  check_grid(8 * multiprocessors, 32);
}

// The last block to finish adds up what all of them left.
__global__ void last_block_kernel(int* partial, unsigned* tickets, int* out) {
  __shared__ bool last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = __syncthreads_count(i % 3 == 0);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) {
    total += static_cast<volatile int*>(partial)[block];
  }
  *out = total;
}

void check_last_block() {
  const auto got = expect::results<int>(42, [](int* all) {
    unsigned* tickets = reinterpret_cast<unsigned*>(all + 40);
    for (int run = 0; run < 3; ++run) {
      last_block_kernel<<<40, 100>>>(all, tickets, all + 41);
    }
  });
  expect::equal(got[40], 0);
  expect::equal(got[41], 4000 / 3 + 1);
}

// Decoupled look-back: a block takes the next number, publishes its sum, and
// adds up the blocks before it, waiting for those that are not ready.
__global__ void look_back_kernel(const int* in, int* out, unsigned* next,
                                 unsigned long long* states) {
  __shared__ unsigned mine;
  __shared__ int scan[64];
  __shared__ int before;
  if (threadIdx.x == 0) mine = atomicAdd(next, 1);
  __syncthreads();
  const unsigned block = mine;
  const int i = block * blockDim.x + threadIdx.x;
  scan[threadIdx.x] = in[i];
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    const int add = threadIdx.x >= step ? scan[threadIdx.x - step] : 0;
    __syncthreads();
    scan[threadIdx.x] += add;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    // State: 1 = the block's own sum, 2 = with all before it.
    const unsigned long long own = static_cast<unsigned>(scan[blockDim.x - 1]);
    atomicExch(states + block, (block == 0 ? 2ull : 1ull) << 32 | own);
    int sum = 0;
    for (int other = static_cast<int>(block) - 1; other >= 0;) {
      const unsigned long long state = atomicAdd(states + other, 0ull);
      if (state >> 32 == 0) continue;
      sum += static_cast<int>(state);
      if (state >> 32 == 2) break;
      --other;
    }
    if (block > 0) {
      atomicExch(states + block, 2ull << 32 | static_cast<unsigned>(
                                                  sum + static_cast<int>(own)));
    }
    before = sum;
  }
  __syncthreads();
  out[i] = scan[threadIdx.x] + before;
}

void check_look_back() {
  constexpr int kBlocks = 30, kThreads = 64, kN = kBlocks * kThreads;
  std::vector<int> in(kN);
  for (int i = 0; i < kN; ++i) in[i] = i * 13 % 17 - 5;
  const expect::Copy<int> device(in);
  unsigned long long* states = nullptr;
  expect::ok(cudaMalloc(&states, (kBlocks + 1) * sizeof *states));
  expect::ok(cudaMemset(states, 0, (kBlocks + 1) * sizeof *states));
  const auto got = expect::results<int>(kN, [&](int* out) {
    look_back_kernel<<<kBlocks, kThreads>>>(
        device, out, reinterpret_cast<unsigned*>(states + kBlocks), states);
  });
  expect::ok(cudaFree(states));
  std::vector<int> want(kN);
  std::partial_sum(in.begin(), in.end(), want.begin());
  expect::each(got, [&](int i) { return want[i]; });
}

// A block that waits for a later one, which must get its turn.
__global__ void waiting_kernel(int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
    }
    __syncthreads();
    out[threadIdx.x] = static_cast<volatile int*>(flag)[0];
  } else if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 9);
  }
}

void check_waiting() {
  const auto got = expect::results<int>(
      33, [](int* all) { waiting_kernel<<<4, 32>>>(all + 32, all); });
  expect::each(got, [](int) { return 9; });
}

// A lock between blocks, and a critical section that no atomic could do.
__global__ void lock_kernel(int* lock, int* list, int* length) {
  if (threadIdx.x % 16 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    volatile int* end = length;
    static_cast<volatile int*>(list)[*end] = blockIdx.x * 100 + threadIdx.x;
    *end = *end + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

void check_lock() {
  auto got = expect::results<int>(
      42, [](int* all) { lock_kernel<<<10, 64>>>(all, all + 2, all + 1); });
  expect::equal(got[0], 0);
  expect::equal(got[1], 40);
  std::vector<int> list(got.begin() + 2, got.end());
  std::sort(list.begin(), list.end());
  expect::each(list, [](int i) { return i / 4 * 100 + i % 4 * 16; });
}

// A barrier of the grid made by hand; who waits there may count its looks, in
// a register or in memory.
template <int how>
__global__ void own_barrier_kernel(unsigned* arrived, int* values, int* out) {
  const int last = gridDim.x - 1;
  volatile int* box = values;
  if (threadIdx.x == 0) box[blockIdx.x] = blockIdx.x * 3;
  int looks = 0;
  for (unsigned round = 1; round <= 3; ++round) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1);
      while (static_cast<volatile unsigned*>(arrived)[0] < round * gridDim.x) {
        if (how == 1) ++looks;
        if (how == 2) box[2 * gridDim.x + blockIdx.x] = ++looks;
        if (how == 3) __nanosleep(200);
      }
      __threadfence();
    }
    __syncthreads();
    if (round == 1 && threadIdx.x == 0)
      box[gridDim.x + blockIdx.x] = box[last - blockIdx.x] + 1;
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] =
        box[gridDim.x + (blockIdx.x + 5) % gridDim.x] + (looks < 0);
}

template <int how>
void check_own_barrier() {
  constexpr int kBlocks = 250;
  const auto got = expect::results<int>(5 * kBlocks, [](int* all) {
    own_barrier_kernel<how><<<kBlocks, 64>>>(
        reinterpret_cast<unsigned*>(all + 4 * kBlocks), all + kBlocks, all);
  });
  expect::each(std::vector<int>(got.begin(), got.begin() + kBlocks),
               [](int i) { return (kBlocks - 1 - (i + 5) % kBlocks) * 3 + 1; });
}

// Each block waits for the next one: the last must have begun.
__global__ void backward_kernel(int* sums) {
  if (threadIdx.x != 0) return;
  int after = 0;
  if (blockIdx.x + 1 < gridDim.x) {
    volatile int* next = sums + blockIdx.x + 1;
    while (*next == 0) {
    }
    after = *next;
  }
  atomicExch(sums + blockIdx.x, after + 1);
}

void check_backward() {
  const auto got = expect::results<int>(
      200, [](int* sums) { backward_kernel<<<200, 32>>>(sums); });
  expect::each(got, [](int i) { return 200 - i; });
}

// Two blocks hand a number back and forth.
__global__ void table_tennis_kernel(int* ball, int turns) {
  volatile int* seen = ball;
  for (int turn = blockIdx.x; turn < turns; turn += 2) {
    while (*seen != turn) {
    }
    atomicExch(ball, turn + 1);
  }
}

void check_table_tennis() {
  const auto got = expect::results<int>(
      1, [](int* ball) { table_tennis_kernel<<<2, 1>>>(ball, 2000); });
  expect::equal(got[0], 2000);
}

// One store, a fence and one load in each of two blocks: one of them at least
// must see the other's store.
__global__ void store_load_kernel(int* all, int rounds) {
  const int me = blockIdx.x;
  volatile int* turn = all;
  int* seen = all + 2 + 2 * rounds;
  for (int i = 0; i < rounds; ++i) {
    turn[me] = i + 1;
    while (turn[1 - me] < i + 1) {
    }
    volatile int* place = all + 2 + 2 * i;
    place[me] = 1;
    __threadfence();
    seen[2 * i + me] = place[1 - me];
  }
}

void check_store_load() {
  constexpr int kRounds = 3000;
  const auto got = expect::results<int>(2 + 4 * kRounds, [](int* all) {
    store_load_kernel<<<2, 1>>>(all, kRounds);
  });
  int neither = 0;
  for (size_t i = 2 + 2 * kRounds; i < got.size(); i += 2)
    neither += got[i] == 0 && got[i + 1] == 0;
  expect::equal(neither, 0);
}

// A kernel that waits for a thread of the host, and is waited for.
__global__ void host_kernel(volatile int* pages) {
  for (int turn = 1; turn <= 3; ++turn) {
    pages[0] = turn;
    while (pages[1] != turn) {
    }
  }
  pages[2] = 1;
}

void check_host() {
  int* pages = nullptr;
  expect::ok(cudaMallocHost(&pages, 3 * sizeof *pages));
  std::fill_n(pages, 3, 0);
  std::thread host([&] {
    volatile int* seen = pages;
    for (int turn = 1; turn <= 3; ++turn) {
      while (seen[0] != turn) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      seen[1] = turn;
    }
  });
  host_kernel<<<1, 1>>>(pages);
  expect::ok(cudaDeviceSynchronize());
  host.join();
  expect::equal(pages[2], 1);
  expect::ok(cudaFreeHost(pages));
}

}  // namespace

int main() {
  check_block_group();
  check_tile<1>();
  check_tile<2>();
  check_tile<4>();
  check_tile<8>();
  check_tile<16>();
  check_tile<32>();
  check_large_tile<64>();
  check_large_tile<128>();
  check_large_tile<256>();
  check_large_tile<512>();
  check_nested_tile();
  check_coalesced();
  check_labeled();
  check_grid(7, 50);
  check_full_grid();
  check_last_block();
  check_look_back();
  check_waiting();
  check_lock();
  check_own_barrier<0>();
  check_own_barrier<1>();
  check_own_barrier<2>();
  check_own_barrier<3>();
  check_backward();
  check_table_tennis();
  check_store_load();
  check_host();

  setenv("SIMT_ORDER", "backwards", 1);
  check_grid(7, 50);
  check_full_grid();
  check_last_block();
  check_look_back();
  check_waiting();
  check_backward();

  setenv("SIMT_ORDER", "turns", 1);
  check_grid(7, 50);
  check_full_grid();
  check_last_block();
  check_look_back();
  check_waiting();
  check_lock();
  check_own_barrier<0>();
  check_backward();
  check_table_tennis();
  check_store_load();
  check_host();
  return expect::report();
}
