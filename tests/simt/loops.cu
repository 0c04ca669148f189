// Loops of every shape: ptxas unrolls them, and so does the executor's model of
// it. Whatever becomes of a loop, each thread must make its turns. The host
// runs the same code.
#include <cuda_fp16.h>

#include "tests/simt/expect.h"

namespace {

constexpr int kThreads = 96, kNumbers = 4096;

__host__ __device__ unsigned mix(unsigned x) { return x * 0x7feb352d + 1; }

// What each thread does: its number, numbers to read, a place to write to.
// nvcc unrolls whatever it can, so some loops ask it not to.

struct KnownTurns {  // nvcc unrolls some of them, ptxas the rest
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int) const {
    unsigned sum = i;
    for (int k = 0; k < 100; ++k) sum = mix(sum ^ x[k]) + k;
    for (int k = 0; k < 300; ++k) {  // more than ptxas writes out
      if (sum & 1) sum ^= mix(sum >> 3) * (sum >> 5) + (sum >> 7);
      sum = mix(sum ^ x[k]) + k;
    }
    return sum;
  }
};

struct Chain {  // Each number is wanted twice: 2^48 ways from first to last.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int) const {
    unsigned sum = i;
    for (int k = 0; k < 48; ++k) sum = sum * 5 + x[k] * (sum >> 3);
    return sum;
  }
};

template <int kTurns, int kStep>
struct Counts {  // Up or down, to a bound that it meets or not.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int) const {
    unsigned sum = i;
    const int end = kStep > 0 ? kTurns * kStep - kStep / 2 : 0;
    if constexpr (kStep > 0)
      for (int k = 0; k < end; k += kStep)
        sum = mix(sum + x[k]) ^ mix(sum + k) ^ mix(x[k + 1]);
    else
      for (int k = -kTurns * kStep; k > end; k += kStep)
        sum = mix(sum + x[k]) ^ mix(sum + k) ^ mix(x[k + 1]);
    return sum;
  }
};

struct Breaks {  // A known number of turns at most, and each thread leaves.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int) const {
    unsigned sum = 0;
    for (int k = 0; k < 150; ++k) {
      if (x[i * 5 + k] % 61 == 0) break;
      sum = mix(sum + x[i + k]);
    }
    return sum;
  }
};

struct Continues {
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    unsigned sum = 0;
    for (int k = i; k < n; k += 7) {
      if (x[k] & 1) continue;
      sum += x[k];
      if (x[k] & 2) continue;
      sum = mix(sum);
    }
    return sum;
  }
};

struct Sums {  // nvcc makes four turns one, and ptxas four of those.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    unsigned sum = i;
    for (int k = i; k < n; k += 32) sum += x[k] * 3;
    for (int k = n; k > int(i); k -= 29) sum ^= x[k];
    for (unsigned k = i; k <= unsigned(n); k += 3) sum = sum * 5 + x[k];
    return sum;
  }
};

struct Ifs {  // One behind the other, with an else.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    unsigned sum = i, other = 1;
    for (int k = i; k < n; k += 32) {
      const unsigned v = x[k], w = x[k + 1];
      if (v & 1) sum = (sum ^ w) / (v % 16 + 1);
      if (w & 2)
        other = mix(other + x[k + 2]) * (v | 1) + (other >> 3) + (sum & w);
      else
        other ^= (x[k + 3] >> (other & 7)) * (w | 1) + (sum | v);
      sum += (other ^ w) * (v + 3) + (other >> 1);
    }
    return sum ^ other;
  }
};

struct Nested {  // The inner one's turns are known, the outer one's not.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    unsigned sum = 0;
    for (int k = i; k < n; k += 40) {
#pragma unroll 1
      for (int j = 0; j < 5; ++j) sum = mix(sum + x[k + j]);
      for (int j = 0; j < 24; j += 2) sum = mix(sum ^ x[k + j]) + mix(j + k);
    }
    return sum;
  }
};

struct Walks {  // Loads and stores, addresses going on.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned* own, int n) const {
    unsigned k = 0;
    for (const unsigned* p = x + i; p < x + n - 50; p += 97) own[k++ % 8] += *p;
    for (int j = i; j < n; j += 128) own[j % 8] ^= x[j];
    unsigned sum = 0;
    for (int j = 0; j < 8; ++j) sum = mix(sum + own[j]);
    return sum;
  }
};

struct Halves {  // Conversions are inline assembly with registers of its own.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    float sum = 0;
    for (int k = i; k < n; k += 32) {
      const __half2 pair{__half(float(x[k] % 64)), __half(float(x[k] % 32))};
      const float2 both = __half22float2(pair);
      sum += both.x * 2 + both.y;
    }
    return static_cast<unsigned>(sum);
  }
};

struct Wraps {  // Comes round past the largest number.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int n) const {
    unsigned sum = 0;
    for (unsigned k = 0u - 40u * (i % 3 + 1); k != unsigned(n % 8); k += 1)
      sum = mix(sum + k + x[k & 63]);
    return sum;
  }
};

struct Squares {  // Ends by itself, by what is not its counter.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned* x,
                                          unsigned*, int) const {
    unsigned turns = 0;
    for (unsigned v = x[i] | 1; v % 13 && turns < 64; v = mix(v)) ++turns;
    return turns;
  }
};

// A turn in PTX, as nvcc writes one that it leaves alone: an else, an if
// behind it, and a register of a scope within.
#define TURN                                                           \
  "and.b32 t, %0, 1;"                                                  \
  "setp.ne.u32 q, t, 0;"                                               \
  "@q bra ODD;"                                                        \
  "mad.lo.u32 %0, %0, 3, low;"                                         \
  "bra.uni EVEN;"                                                      \
  "ODD: shl.b32 t, low, 1;"                                            \
  "xor.b32 %0, %0, t;"                                                 \
  "EVEN: {.reg .u32 half; shr.u32 half, %0, 2; add.u32 %0, %0, half;}" \
  "and.b32 t, %0, 4;"                                                  \
  "setp.eq.u32 q, t, 0;"                                               \
  "@q bra ON;"                                                         \
  "add.u32 %0, %0, 5;"                                                 \
  "ON: "
__host__ __device__ unsigned turn(unsigned v, unsigned k) {
  v = v & 1 ? v ^ k << 1 : 3 * v + k;
  v += v >> 2;
  return v & 4 ? v + 5 : v;
}

// Turns from `first`, by kStep, while the counter is so to `bound`. These two
// are numbers in the PTX, or what a thread begins with.
#define LOOP(Name, Int, bits, type, relation, sign)                            \
  template <int64_t kStep, int64_t kFirst = 0, int64_t kBound = 0>             \
  struct Name {                                                                \
    __host__ __device__ unsigned operator()(unsigned i, const unsigned*,       \
                                            unsigned*, int n) const {          \
      constexpr bool kKnown = kFirst != kBound;                                \
      const int away = #relation[0] == 'n' ? kStep * (n + 1) : n + int(i % 5); \
      const Int first = kKnown ? Int(kFirst) : Int(i % 32) + (kStep < 0) * n,  \
                bound = kKnown                ? Int(kBound)                    \
                        : #relation[0] == 'n' ? first + away                   \
                        : kStep < 0           ? 0                              \
                                              : away;                                    \
      unsigned v = i;                                                          \
      IN_PTX(kKnown, bits, type, relation, first, bound)                       \
      ON_HOST(Int, sign, first, bound)                                         \
      return v;                                                                \
    }                                                                          \
  };
#ifdef __CUDA_ARCH__
#define ON_HOST(Int, sign, first, bound)
#define AGAIN(bits, type, relation)                    \
  "{.reg .pred p, q; .reg .u32 t, low; .reg .b" #bits  \
  " k;"                                                \
  "mov.b" #bits                                        \
  " k, %1;"                                            \
  "TURN: cvt.u32.u" #bits " low, k;" TURN "add." #type \
  " k, k, %2;"                                         \
  "setp." #relation "." #type                          \
  " p, k, %3;"                                         \
  "@p bra TURN;}"
#define IN_PTX(known, bits, type, relation, first, bound)                   \
  if constexpr (known)                                                      \
    asm volatile(AGAIN(bits, type, relation)                                \
                 : "+r"(v)                                                  \
                 : "n"(kFirst), "n"(kStep), "n"(kBound));                   \
  else if constexpr (bits == 32)                                            \
    asm volatile(AGAIN(bits, type, relation)                                \
                 : "+r"(v)                                                  \
                 : "r"(unsigned(first)), "n"(kStep), "r"(unsigned(bound))); \
  else                                                                      \
    asm volatile(AGAIN(bits, type, relation)                                \
                 : "+r"(v)                                                  \
                 : "l"(uint64_t(first)), "n"(kStep), "l"(uint64_t(bound)));
#else
#define IN_PTX(known, bits, type, relation, first, bound)
#define ON_HOST(Int, sign, first, bound) \
  Int k = first;                         \
  do {                                   \
    v = turn(v, unsigned(k));            \
    k += Int(kStep);                     \
  } while (k sign bound);
#endif
LOOP(LessS, int, 32, s32, lt, <)
LOOP(LessU, unsigned, 32, u32, lt, <)
LOOP(UpToS, int, 32, s32, le, <=)
LOOP(MoreS, int, 32, s32, gt, >)
LOOP(DownToU, unsigned, 32, u32, ge, >=)
LOOP(NotS, int, 32, s32, ne, !=)
LOOP(LessS64, int64_t, 64, s64, lt, <)
LOOP(NotU64, uint64_t, 64, u64, ne, !=)

struct Entered {  // Some threads come into its middle.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned*,
                                          unsigned*, int) const {
    unsigned v = i;
#ifdef __CUDA_ARCH__
    asm volatile(
        "{.reg .pred p, q, in; .reg .u32 t, low;"
        "mov.u32 low, 0;"
        "and.b32 t, %0, 1;"
        "setp.ne.u32 in, t, 0;"
        "@in bra MIDDLE;"
        "AGAIN: add.u32 %0, %0, 77;"
        "MIDDLE: " TURN
        "add.u32 low, low, 1;"
        "setp.lt.u32 p, low, 9;"
        "@p bra AGAIN;}"
        : "+r"(v));
#else
    for (unsigned k = 0; k < 9; ++k) v = turn(k || i % 2 == 0 ? v + 77 : v, k);
#endif
    return v;
  }
};

struct Sometimes {  // Not every turn counts.
  __host__ __device__ unsigned operator()(unsigned i, const unsigned*,
                                          unsigned*, int) const {
    unsigned v = i;
#ifdef __CUDA_ARCH__
    asm volatile(
        "{.reg .pred p, q; .reg .u32 t, low;"
        "mov.u32 low, 0;"
        "AGAIN: mad.lo.u32 %0, %0, 5, 3;"
        "and.b32 t, %0, 2;"
        "setp.ne.u32 q, t, 0;"
        "@q bra LESS;"
        "add.u32 low, low, 1;"
        "LESS: setp.lt.u32 p, low, 9;"
        "@p bra AGAIN;}"
        : "+r"(v));
#else
    unsigned k = 0;
    do {
      v = 5 * v + 3;
      if (!(v & 2)) ++k;
    } while (k < 9);
#endif
    return v;
  }
};

struct TwoBeginnings {
  __host__ __device__ unsigned operator()(unsigned i, const unsigned*,
                                          unsigned*, int) const {
    unsigned v = i;
#ifdef __CUDA_ARCH__
    asm volatile(
        "{.reg .pred p, q, in; .reg .u32 t, low;"
        "and.b32 t, %0, 1;"
        "setp.ne.u32 in, t, 0;"
        "mov.u32 low, 0;"
        "@in bra LATER;"
        "mov.u32 low, 5;"
        "LATER: add.u32 %0, %0, 1;"
        "AGAIN: " TURN
        "add.u32 low, low, 1;"
        "setp.lt.u32 p, low, 9;"
        "@p bra AGAIN;}"
        : "+r"(v));
#else
    ++v;
    for (unsigned k = i % 2 ? 0 : 5; k < 9; ++k) v = turn(v, k);
#endif
    return v;
  }
};

template <class Work>
__global__ void work_kernel(Work work, unsigned* out, const unsigned* x,
                            int n) {
  const unsigned i = threadIdx.x;
  unsigned* own = out + kThreads + 8 * i;
  for (unsigned k = 0; k < 8; ++k) own[k] = k;
  out[i] = work(i, x, own, n);
}

template <class Work>
void check(const std::vector<unsigned>& numbers, Work work) {
  const expect::Copy<unsigned> x(numbers);
  for (int n : {0, 1, 31, 33, 95, 255, 256, 700}) {
    const auto got = expect::results<unsigned>(
        9 * kThreads,
        [&](unsigned* out) { work_kernel<<<1, kThreads>>>(work, out, x, n); });
    for (unsigned i = 0; i < kThreads; ++i) {
      unsigned own[8] = {0, 1, 2, 3, 4, 5, 6, 7};
      expect::equal(got[i], work(i, numbers.data(), own, n));
    }
  }
}

// Barriers, shuffles and atomics within turns that are known.
__global__ void meets_kernel(unsigned* out, const unsigned* x) {
  __shared__ unsigned places[kThreads];
  const unsigned i = threadIdx.x;
  places[i] = i;
  unsigned mine = i;
  for (int k = 0; k < 40; ++k) {
    __syncthreads();
    const unsigned next = places[(i + k) % kThreads];
    mine = mix(mine + next + __shfl_xor_sync(~0u, mine, k & 31));
    __syncthreads();
    if (i <= unsigned(k)) places[i] = mine;
    if (i % 32 == unsigned(k) % 32) atomicAdd(&out[kThreads], x[k]);
  }
  out[i] = mine;
}

void check_meeting(const std::vector<unsigned>& numbers) {
  const expect::Copy<unsigned> x(numbers);
  const auto got = expect::results<unsigned>(kThreads + 1, [&](unsigned* out) {
    meets_kernel<<<1, kThreads>>>(out, x);
  });
  std::vector<unsigned> places(kThreads), mine(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) places[i] = mine[i] = i;
  unsigned sum = 0;
  for (int k = 0; k < 40; ++k) {
    const auto before = mine, were = places;
    for (unsigned i = 0; i < kThreads; ++i) {
      const unsigned other = i / 32 * 32 + ((i % 32) ^ (k & 31));
      mine[i] = mix(before[i] + were[(i + k) % kThreads] + before[other]);
      if (i <= unsigned(k)) places[i] = mine[i];
    }
    sum += numbers[k] * (kThreads / 32);
  }
  for (unsigned i = 0; i < kThreads; ++i) expect::equal(got[i], mine[i]);
  expect::equal(got[kThreads], sum);
}

}  // namespace

int main() {
  std::vector<unsigned> numbers(kNumbers);
  for (unsigned k = 0; k < kNumbers; ++k) numbers[k] = mix(k + 12345);
  check(numbers, KnownTurns{});
  check(numbers, Chain{});
  check(numbers, Counts<60, 1>{});
  check(numbers, Counts<61, 4>{});
  check(numbers, Counts<333, 3>{});
  check(numbers, Counts<1000, 2>{});
  check(numbers, Counts<70, -1>{});
  check(numbers, Counts<129, -5>{});
  check(numbers, Breaks{});
  check(numbers, Continues{});
  check(numbers, Sums{});
  check(numbers, Ifs{});
  check(numbers, Nested{});
  check(numbers, Walks{});
  check(numbers, Halves{});
  check(numbers, Wraps{});
  check(numbers, Squares{});
  check(numbers, LessS<1>{});
  check(numbers, LessS<32>{});
  check(numbers, LessU<3>{});
  check(numbers, UpToS<7>{});
  check(numbers, MoreS<-1>{});
  check(numbers, MoreS<-5>{});
  check(numbers, NotS<1>{});
  check(numbers, NotS<-4>{});
  check(numbers, LessS64<9>{});
  check(numbers, LessS<1, 0, 20>{});
  check(numbers, LessS<3, -7, 50>{});
  check(numbers, LessS<1, 5, 2>{});
  check(numbers, LessS<1, 0, 500>{});
  check(numbers, LessS<1, 0, 499>{});
  check(numbers, LessU<7, 3, 1000>{});
  check(numbers, LessU<2, -64, -3>{});
  check(numbers, UpToS<1, 1, 16>{});
  check(numbers, UpToS<3, 0, 333>{});
  check(numbers, MoreS<-1, 15, 0>{});
  check(numbers, MoreS<-7, 100, -9>{});
  check(numbers, DownToU<-1, 40, 1>{});
  check(numbers, NotS<4, 0, 44>{});
  check(numbers, NotS<-1, 777, 0>{});
  check(numbers, LessS64<5, -3, 90>{});
  check(numbers, NotU64<16, 16, 16 * 17>{});
  check(numbers, LessS64<(int64_t{1} << 32) + 1, 0, 9>{});
  check(numbers, Entered{});
  check(numbers, TwoBeginnings{});
  check(numbers, Sometimes{});
  check_meeting(numbers);
  return expect::report();
}
