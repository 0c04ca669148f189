// Threads that hand data over in every way that the CUDA memory model allows:
// the values must arrive, and nobody may call it a race.

#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cuda/atomic>

#include "tests/simt/expect.h"

namespace {

namespace cg = cooperative_groups;

// ---- Between blocks --------------------------------------------------------

// Each block adds one to what the block before hands over.
__global__ void chain_kernel(int* values, volatile int* flags) {
  const int block = blockIdx.x;
  if (block > 0) {
    while (flags[block - 1] == 0) {
    }
    __threadfence();
  }
  values[block] = block == 0 ? 1 : values[block - 1] + 1;
  if (block > 1) values[block] += values[block - 2] - values[block - 2];
  __threadfence();
  flags[block] = 1;
}

void check_chain() {
  const auto got = expect::results<int>(
      2 * 16, [](int* out) { chain_kernel<<<16, 1>>>(out, out + 16); });
  expect::each(got, [](int i) { return i < 16 ? i + 1 : 1; });
}

// The last block adds up what all have left: threadFenceReduction.
__global__ void last_block_kernel(int* out, int* partial, unsigned* arrived) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}

// All threads leave something, fence it and meet; one of them announces it.
__global__ void fenced_by_all_kernel(int* out, int* partial,
                                     unsigned* arrived) {
  __shared__ bool last;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1) == gridDim.x - 1;
  __syncthreads();
  if (last)
    for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
      atomicAdd(out, partial[i]);
}

void check_last_block() {
  const auto by_one = expect::results<int>(10, [](int* out) {
    last_block_kernel<<<8, 64>>>(out, out + 1,
                                 reinterpret_cast<unsigned*>(out + 9));
  });
  expect::equal(by_one[0], 8 * 64);
  const auto by_all = expect::results<int>(2 + 8 * 64, [](int* out) {
    fenced_by_all_kernel<<<8, 64>>>(out, out + 2,
                                    reinterpret_cast<unsigned*>(out + 1));
  });
  expect::equal(by_all[0], 8 * 64);
}

// A warp waits by its first lane, and reads what a whole warp has written.
__global__ void warp_to_warp_kernel(int* out, int* values, int* flag) {
  const int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    values[lane] = lane;
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else {
    if (lane == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
      __threadfence();
    }
    __syncwarp();
    out[lane] = values[31 - lane];
  }
}

// Every thread hands over by itself, to a thread of another block.
__global__ void thread_to_thread_kernel(int* out, int* values,
                                        volatile int* flags) {
  const int i = threadIdx.x;
  if (blockIdx.x == 0) {
    values[i] = i;
    __threadfence();
    flags[i] = 1;
  } else {
    while (flags[i] == 0) {
    }
    __threadfence();
    out[i] = values[i];
  }
}

void check_warps_and_threads() {
  const auto by_warp = expect::results<int>(65, [](int* out) {
    warp_to_warp_kernel<<<2, 32>>>(out, out + 32, out + 64);
  });
  for (int i = 0; i < 32; ++i) expect::equal(by_warp[i], 31 - i);
  const auto by_thread = expect::results<int>(3 * 96, [](int* out) {
    thread_to_thread_kernel<<<2, 96>>>(out, out + 96, out + 2 * 96);
  });
  for (int i = 0; i < 96; ++i) expect::equal(by_thread[i], i);
}

// Of two threads of a warp the second adds up what both have left: it comes
// behind the first within one atomic. All have handed over something before, by
// flags of which there are so many that not all can be remembered (`marks` is
// 32 KiB away).
__global__ void second_of_two_kernel(int* out, int* values, unsigned* arrived,
                                     volatile int* marks) {
  const int i = threadIdx.x;
  __threadfence();
  marks[i / 2] = 1;
  values[i] = i;
  __threadfence();
  if (atomicAdd(&arrived[i / 2], 1) == 0) return;
  __threadfence();
  out[i / 2] = values[i] + values[i ^ 1];
}

void check_second_of_two() {
  constexpr int kFar = 8192;
  const auto got = expect::results<int>(64 + kFar + 16, [](int* out) {
    int* arrived = out + 64;
    second_of_two_kernel<<<1, 32>>>(
        out, out + 16, reinterpret_cast<unsigned*>(arrived), arrived + kFar);
  });
  for (int i = 0; i < 16; ++i) expect::equal(got[i], 4 * i + 1);
}

// Acquire and release need no fence of their own.
__global__ void release_kernel(int* value, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *value = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    value[1] = *value;
  }
}

// Relaxed accesses, and fences of the C++ kind.
__global__ void relaxed_kernel(int* value, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *value = 42;
    cuda::atomic_thread_fence(cuda::memory_order_release,
                              cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire,
                              cuda::thread_scope_device);
    value[1] = *value;
  }
}

void check_releases() {
  const auto released = expect::results<int>(
      3, [](int* out) { release_kernel<<<2, 1>>>(out, out + 2); });
  expect::equal(released[1], 42);
  const auto relaxed = expect::results<int>(
      3, [](int* out) { relaxed_kernel<<<2, 1>>>(out, out + 2); });
  expect::equal(relaxed[1], 42);
}

// A lock guards plain memory.
__global__ void lock_kernel(int* count, int* lock) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0);
}

void check_lock() {
  const auto got = expect::results<int>(
      2, [](int* out) { lock_kernel<<<6, 64>>>(out, out + 1); });
  expect::equal(got[0], 12);
}

// All threads of a large block wait for one another, and none ends before all
// have had their turn: there is a limit of time for that.
__global__ void tickets_kernel(int* count, int* next, int* serving) {
  const int mine = atomicAdd(next, 1);
  while (atomicAdd(serving, 0) != mine) {
  }
  __threadfence();
  *count = *count + 1;
  __threadfence();
  atomicAdd(serving, 1);
  __syncthreads();
}

void check_tickets() {
  const auto got = expect::results<int>(
      3, [](int* out) { tickets_kernel<<<1, 1024>>>(out, out + 1, out + 2); });
  expect::each(got, [](int) { return 1024; });
}

// ---- Within a block --------------------------------------------------------

// One warp tells another by a flag in shared memory.
__global__ void shared_flag_kernel(int* out) {
  __shared__ int value;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 7 + blockIdx.x;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[blockIdx.x] = value;
  }
}

// The same, with something to do while waiting: the compiler asks once before.
__global__ void patient_kernel(int* out) {
  __shared__ int value;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 7 + blockIdx.x;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    int turns = 0;
    while (flag == 0) turns += turns < 1000;
    __threadfence_block();
    out[blockIdx.x] = turns <= 1000 ? value : 0;
  }
}

// Lanes of one warp wait for another one of them.
__global__ void lane_flag_kernel(int* out) {
  __shared__ int value;
  __shared__ volatile int flag;
  const int lane = threadIdx.x;
  if (lane == 0) flag = 0;
  __syncwarp();
  if (lane == 1) {
    value = 7 + blockIdx.x;
    __threadfence_block();
    flag = 1;
  } else if (lane == 17) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[blockIdx.x] = value;
  }
}

void check_shared_flag() {
  const auto value = [](int i) { return 7 + i; };
  expect::each(expect::results<int>(
                   4, [](int* out) { shared_flag_kernel<<<4, 64>>>(out); }),
               value);
  expect::each(
      expect::results<int>(4, [](int* out) { patient_kernel<<<4, 64>>>(out); }),
      value);
  expect::each(expect::results<int>(
                   4, [](int* out) { lane_flag_kernel<<<4, 32>>>(out); }),
               value);
}

// Warps of even number fill what their neighbours read, round by round: one
// barrier says that it is full, another one that it is empty.
__global__ void producer_kernel(int* out, int rounds) {
  __shared__ int box[32];
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      box[lane] = round + lane;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += box[31 - lane];
      if (round + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
  if (threadIdx.x >= 32) out[lane] = sum;
}

// A barrier with a number orders the lanes of a warp, too.
__global__ void named_kernel(int* out) {
  __shared__ int box[128];
  const int i = threadIdx.x;
  box[i] = i;
  asm volatile("bar.sync %0, 64;" ::"r"(1 + i / 64) : "memory");
  out[i] = box[i ^ 1] + box[i ^ 63];
}

// One warp of a pair waits for another block's flag; a barrier tells the other.
__global__ void named_after_flag_kernel(int* out, int* value,
                                        volatile int* flag) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    *value = 5;
    __threadfence();
    *flag = 1;
    return;
  }
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    __threadfence();
  }
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = *value;
}

void check_named() {
  const auto produced = expect::results<int>(
      32, [](int* out) { producer_kernel<<<1, 64>>>(out, 5); });
  expect::each(produced, [](int i) { return 10 + 5 * (31 - i); });
  const auto named = expect::results<int>(
      128, [](int* out) { named_kernel<<<1, 128>>>(out); });
  expect::each(named, [](int i) { return (i ^ 1) + (i ^ 63); });
  const auto told = expect::results<int>(66, [](int* out) {
    named_after_flag_kernel<<<2, 64>>>(out, out + 64, out + 65);
  });
  for (int i = 0; i < 64; ++i) expect::equal(told[i], 5);
}

// A barrier that counts or votes is one.
__global__ void counting_kernel(int* out) {
  __shared__ int box[96];
  const int i = threadIdx.x;
  box[i] = i;
  const int count = __syncthreads_count(i % 2);
  const int sum = count + box[95 - i];
  __syncthreads_or(sum);
  box[i] = sum;
  __syncthreads_and(1);
  out[i] = box[(i + 1) % 96];
}

void check_counting() {
  const auto got = expect::results<int>(
      96, [](int* out) { counting_kernel<<<1, 96>>>(out); });
  expect::each(got, [](int i) { return 48 + 95 - (i + 1) % 96; });
}

// Atomics for the block alone, in memory of the block's own.
__global__ void block_atomic_kernel(int* out) {
  atomicAdd_block(&out[blockIdx.x], 1);
}

void check_block_atomics() {
  const auto got = expect::results<int>(
      4, [](int* out) { block_atomic_kernel<<<4, 96>>>(out); });
  expect::each(got, [](int) { return 96; });
}

// ---- Within a warp ---------------------------------------------------------

// Lanes that hand over values alone need no order of memory.
__global__ void values_kernel(int* out) {
  __shared__ int box[32];
  const int lane = threadIdx.x;
  box[lane] = lane;
  int sum = box[lane];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(~0u, sum, step);
  box[lane] = sum;
  out[lane] = box[lane] + __popc(__ballot_sync(~0u, lane < 5));
}

__global__ void groups_kernel(int* out) {
  __shared__ int box[64];
  const int i = threadIdx.x;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  box[i] = i;
  tile.sync();
  const int other = box[i ^ 7];
  tile.sync();
  const unsigned thirds = __ballot_sync(~0u, i % 3 == 0);
  out[i] = other;
  if (i % 3 != 0) return;
  box[i] = other;
  __syncwarp(thirds);
  out[i] = box[i < 32 ? 0 : 33];
}

// Half of a warp meets, then the other half; then all.
__global__ void parts_kernel(int* out) {
  __shared__ int box[32];
  const int lane = threadIdx.x;
  box[lane] = lane;
  __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
  const int near = box[lane ^ 15];
  __syncwarp();
  out[lane] = near + box[lane ^ 16];
}

void check_lanes() {
  const auto values =
      expect::results<int>(32, [](int* out) { values_kernel<<<1, 32>>>(out); });
  expect::each(values, [](int) { return 496 + 5; });
  const auto groups =
      expect::results<int>(64, [](int* out) { groups_kernel<<<1, 64>>>(out); });
  expect::each(groups, [](int i) {
    return (i % 3 != 0 ? i : i < 32 ? 0 : 33) ^ 7;
  });
  const auto parts =
      expect::results<int>(32, [](int* out) { parts_kernel<<<1, 32>>>(out); });
  expect::each(parts, [](int i) { return (i ^ 15) + (i ^ 16); });
}

// ---- The same word ---------------------------------------------------------

// Neighbours in one word have nothing to do with one another.
__global__ void bytes_kernel(unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * 3;
  if (i < n) out[i] += 1;
}

void check_bytes() {
  const auto got = expect::results<unsigned char>(
      200, [](unsigned char* out) { bytes_kernel<<<7, 31>>>(out, 200); });
  expect::each(got, [](int i) { return i * 3 + 1; });
}

// The loops of the CUDA guide: a plain read to begin with is only a guess.
__device__ void add(double* address, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old =
        atomicCAS(bits, assumed,
                  __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

__device__ void add(__half* address, float value) {
  const auto number = reinterpret_cast<size_t>(address);
  auto* word = reinterpret_cast<unsigned*>(number & ~size_t{3});
  const int shift = number & 2 ? 16 : 0;
  unsigned old = *word, assumed;
  do {
    assumed = old;
    const __half sum = __float2half(
        __half2float(__ushort_as_half(old >> shift & 0xffff)) + value);
    const unsigned both =
        (old & ~(0xffffu << shift)) | unsigned{__half_as_ushort(sum)} << shift;
    old = atomicCAS(word, assumed, both);
  } while (assumed != old);
}

__device__ float raise(float* address, float value) {
  auto* bits = reinterpret_cast<int*>(address);
  int old, assumed;
  do {
    assumed = *bits;
    old = atomicCAS(bits, assumed,
                    __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (old != assumed);
  return __int_as_float(old);
}

__global__ void loops_kernel(double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  add(out, 1.0);
  add(reinterpret_cast<__half*>(out + 1) + i % 2, 1.f);
  raise(reinterpret_cast<float*>(out + 2), i);
}

void check_loops() {
  const auto got = expect::results<double>(
      3, [](double* out) { loops_kernel<<<2, 64>>>(out); });
  expect::equal(got[0], 128.0);
  const auto* halves = reinterpret_cast<const __half*>(&got[1]);
  expect::equal(__half2float(halves[0]), 64.f);
  expect::equal(__half2float(halves[1]), 64.f);
  expect::equal(*reinterpret_cast<const float*>(&got[2]), 127.f);
}

// ---- What the compiler loads for nobody -------------------------------------

// Of `if (c) v = *p;` nvcc makes a load by all lanes and a choice behind it;
// of several turns of the loop at once it makes the loads first.
__global__ void choice_kernel(float* out, int turns) {
  __shared__ float tile[64];
  float sum = 0.f;
  for (int turn = 0; turn < turns; ++turn) {
    tile[threadIdx.x] = 1.f;
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      __syncthreads();
      if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) sum += tile[0];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

void check_choice() {
  const auto got = expect::results<float>(
      64, [](float* out) { choice_kernel<<<1, 64>>>(out, 5); });
  expect::each(got, [](int i) { return i == 0 ? 320.f : 0.f; });
}

}  // namespace

int main() {
  check_chain();
  check_last_block();
  check_warps_and_threads();
  check_second_of_two();
  check_releases();
  check_lock();
  check_tickets();
  check_shared_flag();
  check_named();
  check_counting();
  check_block_atomics();
  check_lanes();
  check_bytes();
  check_loops();
  check_choice();
  return expect::report();
}
