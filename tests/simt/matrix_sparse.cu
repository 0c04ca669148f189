// Products with a sparse A (mma.sp), against the host: which half of A is
// stored, which lanes say so, and which bits the sums have.

#include <cstdint>
#include <random>
#include <vector>

#include "tests/simt/expect.h"
#include "tests/simt/sparsity.h"
#include "tests/simt/tensor_sums.h"

namespace {

using namespace tensor_sums;
using sparsity::Shape;

using Words = std::vector<uint32_t>;

constexpr int kRuns = 40, kRows = 16, kColumns = 8;

template <class Form>
__global__ void multiply(const uint32_t* a, const uint32_t* b,
                         const uint32_t* c, const uint32_t* metadata,
                         uint32_t* d) {
  uint32_t fa[Form::kParts], fb[Form::kParts], fc[4], fd[4];
  const int lane = threadIdx.x;
  for (int n = 0; n < Form::kParts; ++n) {
    fa[n] = a[lane * Form::kParts + n];
    fb[n] = b[lane * Form::kParts + n];
  }
  for (int n = 0; n < 4; ++n) fc[n] = c[lane * 4 + n];
  Form::run(fd, fa, fb, fc, metadata[lane]);
  for (int n = 0; n < 4; ++n) d[lane * 4 + n] = fd[n];
}

#define SPARSE_2(NAME, OP, SELECTOR, ...)                                     \
  struct NAME {                                                               \
    static constexpr int kParts = 2, kSelector = SELECTOR;                    \
    static constexpr Shape kShape = __VA_ARGS__;                              \
    static __device__ void run(uint32_t* d, const uint32_t* a,                \
                               const uint32_t* b, const uint32_t* c,          \
                               uint32_t e) {                                  \
      asm volatile("mma." OP                                                  \
                   " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}, %12, " \
                   "%13;"                                                     \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])           \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]),   \
                     "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(e), "n"(SELECTOR)); \
    }                                                                         \
  };
#define SPARSE_4(NAME, OP, SELECTOR, ...)                                   \
  struct NAME {                                                             \
    static constexpr int kParts = 4, kSelector = SELECTOR;                  \
    static constexpr Shape kShape = __VA_ARGS__;                            \
    static __device__ void run(uint32_t* d, const uint32_t* a,              \
                               const uint32_t* b, const uint32_t* c,        \
                               uint32_t e) {                                \
      asm volatile("mma." OP                                                \
                   " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, "       \
                   "{%12,%13,%14,%15}, %16, %17;"                           \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), \
                     "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]), "r"(c[1]), \
                     "r"(c[2]), "r"(c[3]), "r"(e), "n"(SELECTOR));          \
    }                                                                       \
  };

SPARSE_2(Half16, "sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 0,
         {16, 16, 4, 4})
SPARSE_2(Half16Third, "sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 3,
         {16, 16, 4, 4})
SPARSE_4(Half32,
         "sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
         1, {32, 16, 4, 2})
SPARSE_2(Bfloat16, "sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 2,
         {16, 16, 4, 4})
SPARSE_4(Bfloat32, "sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 0,
         {32, 16, 4, 2})
SPARSE_2(Tfloat8, "sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 1,
         {8, 32, 2, 4})
SPARSE_4(Tfloat16, "sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 1,
         {16, 32, 2, 2})
SPARSE_4(Eighths64, "sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", 0,
         {64, 8, 4, 1})
SPARSE_2(Signed32, "sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 1,
         {32, 8, 4, 2})
SPARSE_4(Signed64, "sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32",
         0, {64, 8, 4, 1})
SPARSE_2(Nibbles64, "sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 0,
         {64, 4, 8, 2})
SPARSE_4(Nibbles128, "sp.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32", 0,
         {128, 4, 8, 1})

// The manual's figures: lane, register and element -> row and column of A as it
// is stored, of B and of C.
struct Element {
  int row, column;
};
Element in_a(int lane, int r, int e, int per) {
  return {lane / 4 + r % 2 * 8, (r / 2 * 4 + lane % 4) * per + e};
}
Element in_b(int lane, int r, int e, int per) {
  return {(r * 4 + lane % 4) * per + e, lane / 4};
}
Element in_c(int lane, int n) {
  return {lane / 4 + n / 2 * 8, lane % 4 * 2 + n % 2};
}

// What is not stored of A are zeros in `whole`; the lanes hold `parts`.
struct Sparse {
  Words whole, metadata, parts;
};
template <class Form, class Draw>
Sparse some_sparse(std::mt19937& random, Draw draw) {
  constexpr Shape s = Form::kShape;
  Words stored(kRows * s.k / 2), parts(32 * Form::kParts);
  for (uint32_t& x : stored) x = draw();
  const int per = 32 / s.bits;
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < Form::kParts; ++r)
      for (int e = 0; e < per; ++e) {
        const auto [row, column] = in_a(lane, r, e, per);
        parts[lane * Form::kParts + r] |= stored[row * s.k / 2 + column]
                                          << (e * s.bits % 32);
      }
  const auto [whole, metadata] =
      sparsity::spread(s, Form::kSelector, kRows, stored, random);
  return {whole, metadata, parts};
}

template <class Form>
Words product(const Sparse& a, const Words& b, const Words& c) {
  constexpr int kBits = Form::kShape.bits, kPer = 32 / kBits;
  Words fb(32 * Form::kParts), fc(32 * 4);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < Form::kParts; ++r)
      for (int e = 0; e < kPer; ++e) {
        const auto [row, column] = in_b(lane, r, e, kPer);
        fb[lane * Form::kParts + r] |= b[row * kColumns + column]
                                       << (e * kBits % 32);
      }
    for (int n = 0; n < 4; ++n) {
      const auto [row, column] = in_c(lane, n);
      fc[lane * 4 + n] = c[row * kColumns + column];
    }
  }
  const expect::Copy<uint32_t> da(a.parts), db(fb), dc(fc), de(a.metadata);
  const auto fd = expect::results<uint32_t>(32 * 4, [&](uint32_t* out) {
    multiply<Form><<<1, 32>>>(da, db, dc, de, out);
  });
  Words d(kRows * kColumns);
  for (int lane = 0; lane < 32; ++lane)
    for (int n = 0; n < 4; ++n) {
      const auto [row, column] = in_c(lane, n);
      d[row * kColumns + column] = fd[lane * 4 + n];
    }
  return d;
}

template <class Form>
void check_wholes(bool saturates = false) {
  constexpr Shape s = Form::kShape;
  std::mt19937 random(s.k + s.bits);
  for (int run = 0; run < kRuns; ++run) {
    const auto draw = [&] { return random() & ((1u << s.bits) - 1); };
    const Sparse a = some_sparse<Form>(random, draw);
    Words b(s.k * kColumns), c(kRows * kColumns);
    for (uint32_t& x : b) x = draw();
    for (uint32_t& x : c) x = run % 2 ? random() : 0x7ffffff0;
    const Words d = product<Form>(a, b, c);
    expect::each(d, [&](int at) {
      int64_t sum = static_cast<int32_t>(c[at]);
      for (int n = 0; n < s.k; ++n) {
        const uint32_t left = a.whole[at / kColumns * s.k + n];
        const int64_t sign = left >> (s.bits - 1) & 1;
        sum += (int64_t{left} - (sign << s.bits)) *
               b[n * kColumns + at % kColumns];
      }
      if (saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<uint32_t>(sum);
    });
  }
}

// Zeros do not change a sum: it is that of a dense matrix.
template <class Form>
void check_sums(Format f) {
  constexpr Shape s = Form::kShape;
  std::mt19937 random(s.k * 100 + f.mantissa);
  for (int run = 0; run < kRuns; ++run) {
    const int spread = run % 4 == 0 ? 1 : run % 4 == 1 ? 6 : 14;
    const auto draw = [&] { return some_number(f, random, -spread, spread); };
    const Sparse a = some_sparse<Form>(random, draw);
    Words b(s.k * kColumns), c(kRows * kColumns);
    for (uint32_t& x : b) x = draw();
    for (uint32_t& x : c) x = some_number(kFloat, random, -spread, spread);
    const Words d = product<Form>(a, b, c);
    expect::each(d, [&](int at) {
      return expected_sum(f, &a.whole[at / kColumns * s.k], &b[at % kColumns],
                          s.k, c[at]);
    });
  }
}

// Of 8-bit numbers, whose sums are exact here: 1 and 2, of any sign.
void check_eighths() {
  constexpr Shape s = Eighths64::kShape;
  std::mt19937 random(8);
  const auto value = [](uint32_t bits, uint32_t two) {
    return (bits & 0x7f ? (bits & 0x7f) == two ? 2 : 1 : 0) *
           (bits >> 7 ? -1 : 1);
  };
  for (int run = 0; run < kRuns; ++run) {
    const Sparse a = some_sparse<Eighths64>(random, [&] {
      return (random() % 2 ? 0x38u : 0x40u) | random() % 2 << 7;  // e4m3
    });
    Words b(s.k * kColumns), c(kRows * kColumns, 0x3f000000);  // 0.5
    for (uint32_t& x : b)
      x = (random() % 2 ? 0x3cu : 0x40u) | random() % 2 << 7;
    const Words d = product<Eighths64>(a, b, c);
    expect::each(d, [&](int at) {
      float sum = 0.5f;
      for (int n = 0; n < s.k; ++n)
        sum += value(a.whole[at / kColumns * s.k + n], 0x40) *
               value(b[n * kColumns + at % kColumns], 0x40);
      uint32_t bits;
      std::memcpy(&bits, &sum, sizeof bits);
      return bits;
    });
  }
}

}  // namespace

int main() {
  check_wholes<Signed32>();
  check_wholes<Signed64>(true);
  check_wholes<Nibbles64>();
  check_wholes<Nibbles128>();
  check_sums<Half16>(kHalf);
  check_sums<Half16Third>(kHalf);
  check_sums<Half32>(kHalf);
  check_sums<Bfloat16>(kBfloat);
  check_sums<Bfloat32>(kBfloat);
  check_sums<Tfloat8>(kTfloat);
  check_sums<Tfloat16>(kTfloat);
  check_eighths();
  return expect::report();
}
