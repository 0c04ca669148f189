// Barriers of a block: in loops and functions, with counts and votes, named,
// after early returns, in blocks of every shape; and of a cluster.

#include <cooperative_groups.h>

#include <algorithm>

#include "tests/simt/expect.h"

namespace {

// Each round rotates the array by one: a barrier too few shows.
__global__ void loop_kernel(int* out, int rounds) {
  extern __shared__ int ring[];
  const int i = threadIdx.x;
  const int n = blockDim.x;
  ring[i] = i;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    const int next = ring[(i + 1) % n];
    __syncthreads();
    ring[i] = next;
    __syncthreads();
  }
  out[blockIdx.x * n + i] = ring[i];
}

void check_loop() {
  for (int n : {1, 2, 31, 32, 33, 63, 65, 100, 256, 1000, 1024}) {
    const auto got = expect::results<int>(2 * n, [&](int* out) {
      loop_kernel<<<2, n, n * sizeof(int)>>>(out, 7);
    });
    expect::each(got, [&](int i) { return (i % n + 7) % n; });
  }
}

__device__ __noinline__ int broadcast(int value, int from) {
  __shared__ int box;
  if (threadIdx.x == from) box = value;
  __syncthreads();
  const int received = box;
  __syncthreads();
  return received;
}

// The same function, hence the same barriers, called from several places.
__global__ void function_kernel(int* out) {
  const int i = threadIdx.x;
  int sum = broadcast(i * 3, 5);
  for (int from = 40; from < 50; ++from) sum += broadcast(i + sum, from);
  if (blockIdx.x == 1) sum += broadcast(1000, 0);
  out[blockIdx.x * blockDim.x + i] = sum;
}

void check_function() {
  const auto got = expect::results<int>(
      2 * 50, [](int* out) { function_kernel<<<2, 50>>>(out); });
  int sum = 15;
  for (int from = 40; from < 50; ++from) sum += from + sum;
  expect::each(got, [&](int i) { return i < 50 ? sum : sum + 1000; });
}

__device__ __noinline__ int recursive_sum(int depth) {
  if (depth == 0) return 0;
  const int here = __syncthreads_count(static_cast<int>(threadIdx.x) < depth);
  return here + recursive_sum(depth - 1);
}

__global__ void recursion_kernel(int* out) {
  out[threadIdx.x] = recursive_sum(20);
}

void check_recursion() {
  const auto got = expect::results<int>(
      70, [](int* out) { recursion_kernel<<<1, 70>>>(out); });
  expect::each(got, [](int) { return 210; });
}

__global__ void votes_kernel(int* out, int limit) {
  const int i = threadIdx.x;
  int* mine = out + 3 * i;
  mine[0] = __syncthreads_count(i % 3 == 0 && i < limit);
  mine[1] = __syncthreads_and(i < limit);
  mine[2] = __syncthreads_or(i >= limit);
}

void check_votes() {
  for (int n : {1, 32, 50, 96, 129}) {
    for (int limit : {0, 1, 33, n}) {
      const auto got = expect::results<int>(
          3 * n, [&](int* out) { votes_kernel<<<1, n>>>(out, limit); });
      expect::each(got, [&](int i) {
        const int below = std::min(n, limit);
        const int answers[] = {(below + 2) / 3, limit >= n, limit < n};
        return answers[i % 3];
      });
    }
  }
}

// Threads past the end of the data return before any barrier; those that
// stay meet at theirs, as every NVIDIA GPU since Volta lets them.
__global__ void early_kernel(int* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  __shared__ int box[128];
  box[i] = i * i;
  __syncthreads();
  const int other = box[n - 1 - i];
  if (i % 2 == 1) return;
  __syncthreads();
  box[i] = other;
  __syncthreads();
  out[i] = i + 2 < n ? box[i + 2] : -1;
}

void check_early() {
  for (int n : {1, 32, 40, 64, 100}) {
    const auto got = expect::results<int>(
        128, [&](int* out) { early_kernel<<<1, 128>>>(out, n); });
    expect::each(got, [&](int i) {
      if (i >= n || i % 2 == 1) return 0;
      if (i + 2 >= n) return -1;
      const int mirror = n - 3 - i;
      return mirror * mirror;
    });
  }
}

// The two halves of a block meet among themselves, on barriers of their own.
__global__ void halves_kernel(int* out) {
  __shared__ int box[128];
  const int i = threadIdx.x;
  box[i] = 0;
  __syncthreads();
  if (i < 64) {
    for (int round = 1; round <= 3; ++round) {
      box[i] = round * 100 + i;
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[i] += box[63 - i];
      asm volatile("bar.sync 1, 64;" ::: "memory");
    }
  } else {
    box[i] = i;
    asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[i] = box[191 - i];
  }
}

void check_halves() {
  const auto got = expect::results<int>(
      128, [](int* out) { halves_kernel<<<1, 128>>>(out); });
  expect::each(got,
               [](int i) { return i < 64 ? 600 + 3 * (63 - i) : 191 - i; });
}

// Such a barrier orders the lanes of one warp, too: nothing else is needed
// before one reads what its neighbour wrote.
__global__ void neighbours_kernel(int* out) {
  __shared__ int box[64];
  const int i = threadIdx.x;
  box[i] = 10 * i;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[i] = box[i ^ 1];
}

void check_neighbours() {
  const auto got = expect::results<int>(
      64, [](int* out) { neighbours_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) { return 10 * (i ^ 1); });
}

// The second warp has 8 lanes, which come in two parts.
__global__ void ragged_kernel(int* out) {
  __shared__ int box[40];
  const int i = threadIdx.x;
  box[i] = i;
  if (i % 2 == 0) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[i] = box[39 - i];
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[i] = 100 + box[39 - i];
  }
}

void check_ragged() {
  const auto got =
      expect::results<int>(40, [](int* out) { ragged_kernel<<<1, 40>>>(out); });
  expect::each(got, [](int i) { return 100 * (i % 2) + 39 - i; });
}

// A producer arrives and goes on; a consumer waits for it.
__global__ void arrive_kernel(int* out) {
  __shared__ int box[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < 4; ++round) {
      box[lane] = round * lane;
      __threadfence_block();
      asm volatile("bar.arrive 3, 64;" ::: "memory");
      asm volatile("bar.sync 4, 64;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
      asm volatile("bar.sync 3, 64;" ::: "memory");
      sum += box[31 - lane];
      asm volatile("bar.arrive 4, 64;" ::: "memory");
    }
    out[lane] = sum;
  }
}

void check_arrive() {
  const auto got =
      expect::results<int>(32, [](int* out) { arrive_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int lane) { return 6 * (31 - lane); });
}

// A ragged warp arrives in two parts, and stands for 32 once both have come.
__global__ void ragged_arrive_kernel(int* out) {
  __shared__ int box[8];
  const int i = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (i >= 32) {
      box[i - 32] = 10 * round + i;
      if (i % 2)
        asm volatile("barrier.arrive 3, 64;" ::: "memory");
      else
        asm volatile("barrier.arrive 3, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 3, 64;" ::: "memory");
      out[32 * round + i] = box[i % 8];
    }
    __syncthreads();
  }
}

void check_ragged_arrive() {
  const auto got = expect::results<int>(
      96, [](int* out) { ragged_arrive_kernel<<<1, 40>>>(out); });
  expect::each(got, [](int i) { return 10 * (i / 32) + 32 + i % 8; });
}

// Which barrier it is, and for how many threads, only the upper half of a warp
// has computed; the lower one ends.
__global__ void computed_kernel(int* out) {
  __shared__ int box[64];
  const int i = threadIdx.x;
  out[i] = -1;
  box[i] = i;
  if (i % 32 < 16) return;
  const int number = out[i] + 6, count = 65 + out[i];
  asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
  out[i] = box[i ^ 32];
}

void check_computed() {
  const auto got = expect::results<int>(
      64, [](int* out) { computed_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) { return i % 32 < 16 ? -1 : i ^ 32; });
}

// Half a warp waits, and then the other half ends: the warp has come. (The half
// that waits cannot tell the other so: ptxas puts all that stands before the
// barrier behind a warp's own meeting, at which a GPU waits for both.)
__global__ void leaving_half_kernel(int* out) {
  __shared__ int box[64];
  const int i = threadIdx.x;
  box[i] = i;
  out[i] = -1;
  if (i >= 16 && i < 32) {
    for (int nap = 0; nap < 100; ++nap) __nanosleep(10000);
    return;
  }
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  out[i] = box[63 - i];
}

void check_leaving_half() {
  const auto got = expect::results<int>(
      64, [](int* out) { leaving_half_kernel<<<1, 64>>>(out); });
  expect::each(got, [](int i) { return i >= 16 && i < 32 ? -1 : 63 - i; });
}

// bar.red on a named barrier counts the threads that met there.
__global__ void named_votes_kernel(int* out) {
  const int i = threadIdx.x;
  if (i >= 64) return;
  int count, all, any;
  asm volatile(
      "{.reg .pred p, q; setp.lt.s32 p, %3, 40;"
      " bar.red.popc.u32 %0, 5, 64, p;"
      " bar.red.and.pred q, 5, 64, p; selp.s32 %1, 1, 0, q;"
      " bar.red.or.pred q, 5, 64, p; selp.s32 %2, 1, 0, q;}"
      : "=r"(count), "=r"(all), "=r"(any)
      : "r"(i)
      : "memory");
  out[i] = count * 100 + all * 10 + any;
}

void check_named_votes() {
  const auto got = expect::results<int>(
      64, [](int* out) { named_votes_kernel<<<1, 96>>>(out); });
  expect::each(got, [](int) { return 4001; });
}

// Grids and blocks of one, two and three dimensions.
__global__ void shape_kernel(int* out) {
  const int thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int size = blockDim.x * blockDim.y * blockDim.z;
  __shared__ int last;
  if (thread == size - 1) last = block;
  __syncthreads();
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const bool right = lane == thread % 32 && last == block;
  out[block * size + thread] = right ? block * 10000 + thread : -1;
}

void check_shapes() {
  const dim3 grids[] = {{5}, {3, 2}, {2, 2, 3}, {1, 7, 1}, {1, 1, 4}};
  const dim3 blocks[] = {{1},        {48},       {7, 5},     {4, 4, 4},
                         {1, 1, 33}, {33, 3, 2}, {1, 64, 1}, {16, 16, 4}};
  for (const dim3& grid : grids) {
    for (const dim3& block : blocks) {
      const int size = block.x * block.y * block.z;
      const int n = grid.x * grid.y * grid.z * size;
      const auto got = expect::results<int>(
          n, [&](int* out) { shape_kernel<<<grid, block>>>(out); });
      expect::each(got, [&](int i) { return i / size * 10000 + i % size; });
    }
  }
}

// Warps leave between two barriers; those that stay go on meeting.
__global__ void shrinking_kernel(int* out) {
  const int i = threadIdx.x;
  int met = 0;
  for (int round = 0; round <= i / 32; ++round) met += __syncthreads_count(1);
  out[i] = met;
}

void check_shrinking() {
  const auto got = expect::results<int>(
      90, [](int* out) { shrinking_kernel<<<1, 90>>>(out); });
  const int met[] = {90, 90 + 58, 90 + 58 + 26};
  expect::each(got, [&](int i) { return met[i / 32]; });
}

// The barrier of a cluster, here of one block: to arrive is one thing, to wait
// another. It takes a GPU of compute capability 9.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ void arrive() {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
}
__device__ void wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
__device__ void meet() { cooperative_groups::this_cluster().sync(); }
#else
__device__ void arrive() {}
__device__ void wait() {}
__device__ void meet() {}
#endif

__global__ void cluster_kernel(int* out) {
  __shared__ int box[160];
  const int i = threadIdx.x, n = blockDim.x;
  box[i] = i + 1;
  meet();
  out[i] = box[n - 1 - i];
}

// Much happens between the two, and some warps are a phase ahead of others.
__global__ void phases_kernel(int* out, int rounds) {
  __shared__ int box[2][160];
  const int i = threadIdx.x, n = blockDim.x;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    box[round % 2][i] = round * i;
    arrive();
    int busy = i;
    for (int k = 0; k < i / 32 * 100; ++k) busy = busy * 5 + k;
    if (busy == -1) sum += 1000;
    wait();
    sum += box[round % 2][(i + 33) % n];
  }
  out[i] = sum;
}

// Each half of a warp arrives and waits in a place of its own; a third of the
// threads ends in between, another before.
__global__ void leaving_cluster_kernel(int* out) {
  __shared__ int box[160];
  const int i = threadIdx.x, n = blockDim.x;
  if (i % 3 == 0) return;
  box[i] = i;
  if (i % 2 == 0) {
    arrive();
    if (i % 3 == 1) return;
    wait();
  } else {
    arrive();
    if (i % 3 == 1) return;
    wait();
  }
  const int other = (i + 2) % n;
  if (other % 3 == 1) out[i] = box[other];
  arrive();
  wait();
  if (i + 3 < n) atomicAdd(out + i + 3, 1000);
}

void check_cluster() {
  cudaDeviceProp device = {};
  expect::ok(cudaGetDeviceProperties(&device, 0));
  if (device.major < 9) return;
  for (int n : {1, 31, 32, 33, 100, 160}) {
    auto got = expect::results<int>(
        n, [&](int* out) { cluster_kernel<<<1, n>>>(out); });
    expect::each(got, [&](int i) { return n - i; });
    got = expect::results<int>(
        n, [&](int* out) { phases_kernel<<<1, n>>>(out, 6); });
    expect::each(got, [&](int i) { return 15 * ((i + 33) % n); });
  }
  const int n = 160;
  const auto got = expect::results<int>(
      n, [&](int* out) { leaving_cluster_kernel<<<1, n>>>(out); });
  expect::each(got, [&](int i) {
    if (i % 3 != 2) return 0;
    const int other = (i + 2) % n;
    return (other % 3 == 1 ? other : 0) + (i >= 5 ? 1000 : 0);
  });
}

}  // namespace

int main() {
  check_loop();
  check_function();
  check_recursion();
  check_votes();
  check_early();
  check_halves();
  check_neighbours();
  check_ragged();
  check_arrive();
  check_ragged_arrive();
  check_computed();
  check_leaving_half();
  check_named_votes();
  check_shapes();
  check_shrinking();
  check_cluster();
  return expect::report();
}
