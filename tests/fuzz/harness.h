// What the random programs of tests/fuzz have in common: small device
// functions, and a main that runs them.
//
//   batch          runs every program and prints its number and a hash of all
//                  that it wrote
//   batch 17 23    runs these, in this order
//   batch --bits 17   prints the words that it wrote, one a line
//
// A program that ends with an error is the last to run, as CUDA has it.
#pragma once
#pragma nv_diag_suppress 68, 69, 177, 186, 550
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;

// ---- On the device ----------------------------------------------------------

// PTX leaves the bits of a NaN to the machine: one for all.
__device__ inline u16 one_nan_f16(u16 x) {
  return (x & 0x7fff) > 0x7c00 ? 0x7fff : x;
}
__device__ inline u16 one_nan_bf16(u16 x) {
  return (x & 0x7fff) > 0x7f80 ? 0x7fff : x;
}
__device__ inline u32 one_nan_f16x2(u32 x) {
  return u32{one_nan_f16(x >> 16)} << 16 | one_nan_f16(x);
}
__device__ inline u32 one_nan_bf16x2(u32 x) {
  return u32{one_nan_bf16(x >> 16)} << 16 | one_nan_bf16(x);
}
__device__ inline u32 one_nan_f32(u32 x) {
  return (x & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : x;
}
__device__ inline u64 one_nan_f64(u64 x) {
  return (x & ~0ull >> 1) > 0x7ff0000000000000 ? ~0ull >> 1 : x;
}

// The same number with another exponent, so that sums are not all of giants
// and dwarfs.
__device__ inline u16 near_f16(u16 x) { return (x & 0x8bff) | 0x3800; }
__device__ inline u16 near_bf16(u16 x) { return (x & 0x81ff) | 0x3e00; }
__device__ inline u32 near_f16x2(u32 x) {
  return (x & 0x8bff8bff) | 0x38003800;
}
__device__ inline u32 near_bf16x2(u32 x) {
  return (x & 0x81ff81ff) | 0x3e003e00;
}
__device__ inline u32 near_f32(u32 x) { return (x & 0x81ffffff) | 0x3e000000; }
__device__ inline u64 near_f64(u64 x) {
  return (x & 0x803fffffffffffff) | 0x3fc0000000000000;
}

// A divisor that PTX defines: not 0, nor -1, by which the lowest number has no
// quotient.
template <class T>
__device__ inline T divisor(T x) {
  return x == 0 || x == T(-1) ? 3 : x;
}

// An access that no compiler leaves out, doubles or joins with another.
template <class T>
__device__ inline volatile T& always(T& x) {
  return x;
}

// What functions take and return.
struct Parcel {
  u32 a;
  u16 b;
  u64 c;
};
__device__ inline Parcel parcel(u32 a, u32 b, u64 c) {
  return {a, static_cast<u16>(b), c};
}

// One of the lanes in a mask.
__device__ inline u32 pick(u32 mask, u32 which) {
  for (which %= __popc(mask); which; --which) mask &= mask - 1;
  return __ffs(mask) - 1;
}

// The lanes of a warp that a block has: the last warp may be short.
__device__ inline u32 lanes_of_warp(u32 threads) {
  const u32 rest = threads - (threadIdx.x & ~31u);
  return rest < 32 ? (1u << rest) - 1 : ~0u;
}

// ---- On the host ------------------------------------------------------------

constexpr int kInput = 1024;  // words
constexpr int kOwn = 16;      // words of memory that a thread has for itself
constexpr int kCells = 64;    // words that all threads add to

struct Program {
  u64 seed;
  const void* kernel;
  u32 blocks, threads;
  u32 results;  // words a thread
};

inline u64 scrambled(u64 x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Any bits, small numbers, and those at which something ends or begins.
inline u32 input(u32 i) {
  static const u32 kEdges[] = {
      0,          1,          0x7fffffff, 0x80000000, 0xffffffff, 0xffff,
      0x8000,     0x7fff,     0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fffffff, 0x00800000, 0x007fffff, 0x80000001, 0x33000000, 0x4f000000,
      0x4effffff, 0xcf000001, 0x5f000000, 0x3c003c00, 0x7bff0400, 0x03ff8001,
      0x7c00fc00, 0x7fff3555, 0x3f803f80, 0x7f7f0080, 0x3ff00000, 0x7ff00000,
      0x43e00000, 0x41dfffff, 0x477fe000, 0x477ff000, 0x33800000, 0x38800000};
  const u64 random = scrambled(i + 0x9e3779b97f4a7c15 * 7);
  const u32 bits = random >> 32;
  switch (random % 4) {
    case 0:
      return kEdges[bits % (sizeof kEdges / sizeof *kEdges)];
    case 1:
      return bits % 100;
    default:
      return bits;
  }
}

inline void expect(cudaError_t error, u64 seed) {
  if (error == cudaSuccess) return;
  std::printf("%llu %s\n", seed, cudaGetErrorName(error));
  std::exit(1);
}

// Device memory that the host fills first and reads at last.
class Words {
 public:
  explicit Words(size_t count) : host(count) {
    expect(cudaMalloc(&device, 4 * count), 0);
  }
  ~Words() { cudaFree(device); }
  void send() { copy(device, host.data(), cudaMemcpyHostToDevice); }
  void fetch() { copy(host.data(), device, cudaMemcpyDeviceToHost); }

  std::vector<u32> host;
  u32* device = nullptr;

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind) {
    expect(cudaMemcpy(to, from, 4 * host.size(), kind), 0);
  }
};

// What a program wrote: each thread's results, what lies in its own memory,
// and the cells.
inline std::vector<u32> run(const Program& p) {
  const u32 threads = p.blocks * p.threads;
  Words in(kInput), out(threads * p.results), own(threads * kOwn),
      cells(kCells);
  for (u32 i = 0; i < in.host.size(); ++i) in.host[i] = input(i);
  for (u32 i = 0; i < own.host.size(); ++i) own.host[i] = input(i + 5000);
  for (u32 i = 0; i < kCells; ++i) cells.host[i] = i * 0x01000193;
  for (Words* words : {&in, &out, &own, &cells}) words->send();
  u32 zero = 0;
  void* arguments[] = {&in.device, &out.device, &own.device, &cells.device,
                       &zero};
  expect(cudaLaunchKernel(p.kernel, p.blocks, p.threads, arguments, 0, nullptr),
         p.seed);
  expect(cudaDeviceSynchronize(), p.seed);
  std::vector<u32> all;
  for (Words* words : {&out, &own, &cells}) {
    words->fetch();
    all.insert(all.end(), words->host.begin(), words->host.end());
  }
  return all;
}

inline u32 hash(const std::vector<u32>& words) {  // FNV-1a, folded
  u64 h = 0xcbf29ce484222325;
  for (u32 word : words) h = (h ^ word) * 0x100000001b3, h ^= h >> 29;
  return h ^ h >> 32;
}

inline void tell(const Program& p, bool bits) {
  const std::vector<u32> words = run(p);
  if (bits)
    for (u32 word : words) std::printf("%08x\n", word);
  else
    std::printf("%llu %08x\n", p.seed, hash(words));
  std::fflush(stdout);
}

template <size_t kCount>
int run_programs(int argc, char** argv, const Program (&programs)[kCount]) {
  // Recursion takes more stack than there is at first.
  expect(cudaDeviceSetLimit(cudaLimitStackSize, 8192), 0);
  const bool bits = argc > 1 && !std::strcmp(argv[1], "--bits");
  if (argc == 1)
    for (const Program& p : programs) tell(p, false);
  for (int k = 1 + bits; k < argc; ++k)
    for (const Program& p : programs)
      if (p.seed == std::strtoull(argv[k], nullptr, 10)) tell(p, bits);
  return 0;
}
