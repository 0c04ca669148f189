// Large launches, whose blocks the executor spreads over all cores: where
// blocks meet in memory, it takes them back and begins anew. So whatever a
// kernel adds to what was there, it adds once.

#include <time.h>

#include <cassert>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/simt/child.h"
#include "tests/simt/expect.h"

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1200;
constexpr int kCount = kBlocks * kThreads + 77;  // the last block is not full

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
int blocks_for(int n) { return (n + kThreads - 1) / kThreads; }

template <class Kernel, class... Arguments>
void launch(Kernel kernel, Arguments... arguments) {
  kernel<<<blocks_for(kCount), kThreads>>>(arguments...);
  expect::ok(cudaGetLastError());
  expect::ok(cudaDeviceSynchronize());
}

std::vector<int> counted() {
  std::vector<int> numbers(kCount);
  for (int i = 0; i < kCount; ++i) numbers[i] = 7 * i - 3;
  return numbers;
}

// An array on the device that holds 7 i - 3, and what a kernel makes of it.
template <class Run>
std::vector<int> after(Run run) {
  const std::vector<int> before = counted();
  int* x = nullptr;
  expect::ok(cudaMalloc(&x, kCount * sizeof(int)));
  expect::ok(cudaMemcpy(x, before.data(), kCount * sizeof(int),
                        cudaMemcpyHostToDevice));
  run(x);
  std::vector<int> got(kCount);
  expect::ok(
      cudaMemcpy(got.data(), x, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  expect::ok(cudaFree(x));
  return got;
}

__global__ void add_one(int* x, int n) {
  if (place() < n) ++x[place()];
}

void check_apart() {
  const auto got = after([](int* x) { launch(add_one, x, kCount); });
  expect::each(got, [](int i) { return 7 * i - 2; });
}

// The last blocks store where they have loaded, and none before them.
__global__ void add_one_late(int* x, int* y, int n) {
  if (place() >= n) return;
  if (place() < n / 4 * 3)
    y[place()] = x[place()];
  else
    ++x[place()];
}

void check_late() {
  int* y = nullptr;
  expect::ok(cudaMalloc(&y, kCount * sizeof(int)));
  const auto got = after([&](int* x) { launch(add_one_late, x, y, kCount); });
  expect::each(got, [](int i) { return 7 * i - (i < kCount / 4 * 3 ? 3 : 2); });
  expect::ok(cudaFree(y));
}

// All blocks store the same to one word, the last of the array.
__global__ void add_and_say_so(int* x, int* said, int n) {
  if (place() < n) ++x[place()];
  if (threadIdx.x == 0) *said = 1;
}

void check_same_word() {
  int* said = nullptr;
  expect::ok(cudaMalloc(&said, sizeof(int)));
  for (int times = 1; times <= 2; ++times) {
    const auto got = after([&](int* x) {
      for (int k = 0; k < times; ++k) launch(add_and_say_so, x, said, kCount);
    });
    expect::each(got, [&](int i) { return 7 * i - 3 + times; });
  }
  expect::ok(cudaFree(said));
}

// Memory of the host, too, which a kernel finds as it was.
__global__ void add_to_managed(int* x, int n) {
  if (place() < n) x[place()] += 5;
}

void check_managed() {
  int* x = nullptr;
  expect::ok(cudaMallocManaged(&x, kCount * sizeof(int)));
  for (int i = 0; i < kCount; ++i) x[i] = i;
  launch(add_to_managed, x, kCount);
  expect::each(std::vector<int>(x, x + kCount), [](int i) { return i + 5; });
  expect::ok(cudaFree(x));
}

__global__ void add_to_mapped(int* x, int* sum, int n) {
  if (place() < n) x[place()] += 2;
  if (place() < 32) sum[place()] += 1;
}

void check_mapped() {
  int* sum = nullptr;
  expect::ok(cudaMallocHost(&sum, 32 * sizeof(int)));
  for (int i = 0; i < 32; ++i) sum[i] = 100 + i;
  const auto got =
      after([&](int* x) { launch(add_to_mapped, x, sum, kCount); });
  expect::each(got, [](int i) { return 7 * i - 1; });
  expect::each(std::vector<int>(sum, sum + 32), [](int i) { return 101 + i; });
  expect::ok(cudaFreeHost(sum));
}

// Memory that nobody had written before: what was taken back is written once
// more, and all of it is known.
__global__ void fill(int* x, int* said, int n) {
  if (place() < n) x[place()] = place() ^ 21;
  if (threadIdx.x == 0) *said = 1;
}

void check_fresh() {
  int *x = nullptr, *said = nullptr;
  expect::ok(cudaMalloc(&x, kCount * sizeof(int)));
  expect::ok(cudaMalloc(&said, sizeof(int)));
  launch(fill, x, said, kCount);
  launch(add_one, x, kCount);
  std::vector<int> got(kCount);
  expect::ok(
      cudaMemcpy(got.data(), x, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  expect::each(got, [](int i) { return (i ^ 21) + 1; });
  expect::ok(cudaFree(x));
  expect::ok(cudaFree(said));
}

// Shared memory, its atomics, barriers, calls and shuffles stay within a block.
__device__ __noinline__ int folded(int value) {
  for (int apart = 16; apart; apart /= 2)
    value += __shfl_xor_sync(~0u, value, apart);
  return value;
}

__global__ void block_sums(const int* x, int* sums, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const int total = folded(place() < n ? x[place()] : 0);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, total);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void check_shared() {
  const int blocks = blocks_for(kCount);
  int* sums = nullptr;
  expect::ok(cudaMalloc(&sums, blocks * sizeof(int)));
  after([&](int* x) { launch(block_sums, x, sums, kCount); });
  std::vector<int> got(blocks), expected(blocks);
  expect::ok(cudaMemcpy(got.data(), sums, blocks * sizeof(int),
                        cudaMemcpyDeviceToHost));
  const std::vector<int> numbers = counted();
  for (int i = 0; i < kCount; ++i) expected[i / kThreads] += numbers[i];
  expect::each(got, [&](int i) { return expected[i]; });
  expect::ok(cudaFree(sums));
}

// Arrays of a thread's own, recursion, and calls by pointers that memory holds.
using Step = int (*)(int);
__device__ int up(int value) { return value + 5; }
__device__ int down(int value) { return value < 0 ? 2 : 1 + down(value - 9); }
__device__ Step steps[] = {up, down};

__global__ void take_steps(int* x, int n) {
  if (place() >= n) return;
  int values[5] = {};
  for (int k = 0; k < 5; ++k) values[(k * 3 + place()) % 5] = k;
  assert(values[place() % 5] == 0);
  for (int k = 0; k < 5; ++k) x[place()] += steps[values[k] % 2](values[k]);
}

double seconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

// Processor time of all threads but this one.
double seconds_of_others() {
  return seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID);
}

bool may_spread() {
  return on_executor() && !std::getenv("SIMT_THREADS") &&
         std::thread::hardware_concurrency() > 1;
}

void check_stacks() {
  double others = 0;
  const auto got = after([&](int* x) {
    others -= seconds_of_others();
    launch(take_steps, x, kCount);
    others += seconds_of_others();
  });
  // up: 5, 7 and 9; down: of 1 and 3, whose next are below 0.
  expect::each(got, [](int i) { return 7 * i - 3 + 5 + 7 + 9 + 3 + 3; });
  expect::is_true(!may_spread() || others > 1e-3, "another core takes blocks");
}

// Blocks that meet by atomics.
__global__ void count_all(unsigned long long* count, int n) {
  if (place() < n) atomicAdd(count, 3ull);
}

void check_atomics() {
  unsigned long long* count = nullptr;
  expect::ok(cudaMallocManaged(&count, sizeof *count));
  *count = 5;
  launch(count_all, count, kCount);
  expect::equal(*count, 5 + 3ull * kCount);
  expect::ok(cudaFree(count));
}

}  // namespace

int main() {
  check_apart();
  check_late();
  check_same_word();
  check_managed();
  check_mapped();
  check_fresh();
  check_shared();
  check_stacks();
  check_atomics();
  return expect::report();
}
