// make latency         time a load, a tree's step, an addition: each alone
// needs: plots/latency.program
//
// How long one thing takes when nothing else is going on: a load from each
// level of memory, a wavefront of shared memory, a barrier, a step of a tree in
// shared memory, an atomic addition. Pages
// turn counters into time with these. Prints JSON, in nanoseconds; needs a GPU.
//
//   latency [entries of memory's chain]    the default is 2^23, which is 1 GiB
//
// Each number is a difference: a kernel does the thing `few` times, then `many`
// times, and what the launch and the warm-up cost falls out.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "common/check.h"
#include "common/harness/device_array.h"

namespace {

constexpr int kSamples = 9;
constexpr int kBlock = 1024;
constexpr int kTreeSteps = 10;  // kBlock is 2^10.
constexpr int kLanes = 32;

struct alignas(128) Entry {  // A cache line of its own.
  uint32_t next;
};

// One thread follows the chain: each load gives the address of the next, so
// that no two are ever on their way together.
__global__ void chase_kernel(const Entry* __restrict__ chain, int64_t steps,
                             uint32_t* __restrict__ at) {
  uint32_t place = *at;
  for (int64_t i = 0; i < steps; ++i) place = chain[place].next;
  *at = place;
}

// Each lane follows a chain of one word, and all 32 words lie in one bank: a
// load takes 32 wavefronts. 32 warps do so, so that none of them is waited for.
__global__ void conflict_kernel(int64_t loads, uint32_t* __restrict__ at) {
  __shared__ uint32_t chain[kLanes * kLanes];
  uint32_t place = threadIdx.x % kLanes * kLanes;
  chain[place] = place;
  __syncthreads();
  for (int64_t i = 0; i < loads; ++i) place = chain[place];
  at[blockIdx.x * kBlock + threadIdx.x] = place;
}

__global__ void barrier_kernel(int64_t barriers) {
  for (int64_t i = 0; i < barriers; ++i) __syncthreads();
}

// Chapter 08's tree, time and again.
__global__ void tree_kernel(int64_t trees, float* __restrict__ sums) {
  __shared__ float tile[kBlock];
  float sum = 0.f;
  for (int64_t tree = 0; tree < trees; ++tree) {
    tile[threadIdx.x] = 1.f;
    for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
      __syncthreads();
      if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) sum = tile[0];
    __syncthreads();  // Thread 0 has read it before the next tree stores.
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// A thread of each block adds to the same number.
__global__ void atomic_kernel(float* __restrict__ sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1.f);
}

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr,
               "Wrong while measuring: %s. Nothing is timed that is wrong.\n",
               what);
  std::exit(EXIT_FAILURE);
}

// One circle through all entries, in random order (Sattolo's algorithm).
std::vector<Entry> random_circle(int64_t entries) {
  std::vector<uint32_t> order(entries);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(2026);
  for (int64_t i = entries - 1; i > 0; --i)
    std::swap(order[i], order[random() % i]);
  std::vector<Entry> chain(entries);
  for (int64_t i = 0; i < entries; ++i) chain[i].next = order[i];
  return chain;
}

double event_us(const std::function<void()>& call) {
  static const auto event = [] {
    cudaEvent_t made = nullptr;
    CUDA_CHECK(cudaEventCreate(&made));
    return made;
  };
  static const cudaEvent_t start = event(), stop = event();
  CUDA_CHECK(cudaEventRecord(start));
  call();
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaEventRecord(stop));
  CUDA_CHECK(cudaEventSynchronize(stop));
  float ms = 0.f;
  CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
  return 1e3 * ms;
}

// Nanoseconds for each of the times by which `many` exceeds `few`: the median.
double each_ns(int64_t few, int64_t many,
               const std::function<void(int64_t)>& work) {
  std::vector<double> ns;
  work(few);
  for (int i = 0; i < kSamples; ++i) {
    const double short_us = event_us([&] { work(few); });
    const double long_us = event_us([&] { work(many); });
    ns.push_back(1e3 * (long_us - short_us) / static_cast<double>(many - few));
  }
  std::nth_element(ns.begin(), ns.begin() + kSamples / 2, ns.end());
  return ns[kSamples / 2];
}

// A load of an array of so many entries, which one thread goes through. A chain
// that is longer than all samples together comes from memory each time; a
// shorter one comes from the cache that holds it.
double load_ns(int64_t entries, int64_t few, int64_t many) {
  const std::vector<Entry> chain = random_circle(entries);
  const DeviceArray<Entry> device(chain);
  const DeviceArray<uint32_t> at(std::vector<uint32_t>{0});
  int64_t taken = 0;
  const double ns = each_ns(few, many, [&](int64_t steps) {
    chase_kernel<<<1, 1>>>(device.data(), steps, at.data());
    taken += steps;
  });
  uint32_t place = 0;
  for (int64_t i = 0; i < taken; ++i) place = chain[place].next;
  if (at.to_host()[0] != place) wrong("the chase ends elsewhere");
  return ns;
}

int multiprocessors() {
  int sms = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  return sms;
}

double wavefront_ns() {
  const DeviceArray<uint32_t> at(multiprocessors() * kBlock);
  const double ns = each_ns(100, 1100, [&](int64_t loads) {
    conflict_kernel<<<multiprocessors(), kBlock>>>(loads, at.data());
  });
  const std::vector<uint32_t> places = at.to_host();
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] != i % kLanes * kLanes) wrong("a chain of one word");
  return ns / kBlock;  // kBlock / 32 warps, of 32 wavefronts each.
}

double barrier_ns() {
  return each_ns(1000, 11000, [](int64_t barriers) {
    barrier_kernel<<<multiprocessors(), kBlock>>>(barriers);
  });
}

// A step of a tree of 1,024 threads, with so many blocks on each SM.
double tree_step_ns(int blocks_per_sm) {
  const int blocks = multiprocessors() * blocks_per_sm;
  const DeviceArray<float> sums(blocks);
  const double ns = each_ns(100, 1100, [&](int64_t trees) {
    tree_kernel<<<blocks, kBlock>>>(trees, sums.data());
  });
  for (const float sum : sums.to_host())
    if (sum != kBlock) wrong("a tree's sum");
  return ns / kTreeSteps;
}

double atomic_ns() {
  const DeviceArray<float> sum(std::vector<float>{0.f});
  int64_t taken = 0;
  const double ns = each_ns(1 << 16, 1 << 18, [&](int64_t blocks) {
    atomic_kernel<<<static_cast<unsigned>(blocks), 32>>>(sum.data());
    taken += blocks;
  });
  // 2^24 is the first whole number after which a float misses one.
  if (sum.to_host()[0] != static_cast<float>(taken)) wrong("the atomic sum");
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t entries = argc > 1 ? std::atoll(argv[1]) : 1 << 23;
  constexpr int64_t kFew = 1 << 13, kMany = 1 << 15;
  if (entries < (kSamples + 1) * (kFew + kMany)) {
    std::fprintf(stderr,
                 "Memory's chain needs %lld entries, or it is met again.\n",
                 static_cast<long long>((kSamples + 1) * (kFew + kMany)));
    return EXIT_FAILURE;
  }
  std::printf("{\n");
  std::printf("  \"load from L1\": %.4g,\n", load_ns(1 << 7, kFew, kMany));
  std::printf("  \"load from L2\": %.4g,\n",
              load_ns(1 << 16, 1 << 16, 1 << 18));
  std::printf("  \"load from memory\": %.4g,\n", load_ns(entries, kFew, kMany));
  std::printf("  \"wavefront\": %.4g,\n", wavefront_ns());
  std::printf("  \"barrier\": %.4g,\n", barrier_ns());
  std::printf("  \"tree step\": %.4g,\n", tree_step_ns(1));
  std::printf("  \"tree step, two blocks\": %.4g,\n", tree_step_ns(2));
  std::printf("  \"atomic addition\": %.4g\n", atomic_ns());
  std::printf("}\n");
}
