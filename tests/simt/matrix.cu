// Products of matrices by a warp, against the host: where their elements are,
// which bits the sums of tensor cores have, what ldmatrix, stmatrix, movmatrix
// and wmma move.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "tests/simt/expect.h"
#include "tests/simt/tensor_sums.h"

namespace {

using namespace nvcuda;
using namespace tensor_sums;

constexpr int kRuns = 200;

// ---- Fragments of mma, by the manual ----------------------------------------

struct Element {
  int row, column;
};

// Of a matrix A whose registers hold `per` elements each: 16 rows, or 8.
__host__ __device__ Element in_a(int lane, int r, int e, int per, int rows) {
  const bool lower = rows == 16 && r % 2 == 1;
  const int group = rows == 16 ? r / 2 : r;
  return {lane / 4 + (lower ? 8 : 0), (group * 4 + lane % 4) * per + e};
}
__host__ __device__ Element in_b(int lane, int r, int e, int per) {
  return {(r * 4 + lane % 4) * per + e, lane / 4};
}
__host__ __device__ Element in_c(int lane, int i) {
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}

// One warp: D = A * B + C, with the registers of each lane side by side.
template <class Form>
__global__ void multiply(const uint32_t* a, const uint32_t* b,
                         const uint32_t* c, uint32_t* d) {
  uint32_t fa[Form::kA], fb[Form::kB], fc[Form::kC], fd[Form::kC];
  const int lane = threadIdx.x;
  for (int k = 0; k < Form::kA; ++k) fa[k] = a[lane * Form::kA + k];
  for (int k = 0; k < Form::kB; ++k) fb[k] = b[lane * Form::kB + k];
  for (int k = 0; k < Form::kC; ++k) fc[k] = c[lane * Form::kC + k];
  Form::run(fd, fa, fb, fc);
  for (int k = 0; k < Form::kC; ++k) d[lane * Form::kC + k] = fd[k];
}

#define FORM_4_2_4(NAME, OP)                                                 \
  struct NAME {                                                              \
    static constexpr int kA = 4, kB = 2, kC = 4;                             \
    static __device__ void run(uint32_t* d, const uint32_t* a,               \
                               const uint32_t* b, const uint32_t* c) {       \
      asm volatile("mma.sync.aligned." OP                                    \
                   " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "                \
                   "{%10,%11,%12,%13};"                                      \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])          \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),  \
                     "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); \
    }                                                                        \
  };
#define FORM_2_1_4(NAME, OP)                                                \
  struct NAME {                                                             \
    static constexpr int kA = 2, kB = 1, kC = 4;                            \
    static __device__ void run(uint32_t* d, const uint32_t* a,              \
                               const uint32_t* b, const uint32_t* c) {      \
      asm volatile("mma.sync.aligned." OP                                   \
                   " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"         \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])         \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), \
                     "r"(c[2]), "r"(c[3]));                                 \
    }                                                                       \
  };
#define FORM_1_1_2(NAME, OP)                                               \
  struct NAME {                                                            \
    static constexpr int kA = 1, kB = 1, kC = 2;                           \
    static __device__ void run(uint32_t* d, const uint32_t* a,             \
                               const uint32_t* b, const uint32_t* c) {     \
      asm volatile("mma.sync.aligned." OP " {%0,%1}, {%2}, {%3}, {%4,%5};" \
                   : "=r"(d[0]), "=r"(d[1])                                \
                   : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));          \
    }                                                                      \
  };

FORM_4_2_4(Half16, "m16n8k16.row.col.f32.f16.f16.f32")
FORM_2_1_4(Half8, "m16n8k8.row.col.f32.f16.f16.f32")
FORM_4_2_4(Bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32")
FORM_2_1_4(Bfloat8, "m16n8k8.row.col.f32.bf16.bf16.f32")
FORM_4_2_4(Tfloat8, "m16n8k8.row.col.f32.tf32.tf32.f32")
FORM_2_1_4(Tfloat4, "m16n8k4.row.col.f32.tf32.tf32.f32")
FORM_4_2_4(Signed32, "m16n8k32.row.col.s32.s8.s8.s32")
FORM_4_2_4(Mixed32, "m16n8k32.row.col.s32.u8.s8.s32")
FORM_2_1_4(Unsigned16, "m16n8k16.row.col.s32.u8.u8.s32")
FORM_1_1_2(Signed16, "m8n8k16.row.col.s32.s8.s8.s32")
FORM_4_2_4(Saturated32, "m16n8k32.row.col.satfinite.s32.s8.s8.s32")
FORM_4_2_4(Nibbles64, "m16n8k64.row.col.s32.s4.s4.s32")
FORM_1_1_2(Nibbles32, "m8n8k32.row.col.s32.u4.u4.s32")
FORM_4_2_4(Xor256, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
FORM_2_1_4(And128, "m16n8k128.row.col.s32.b1.b1.s32.and.popc")

using Matrix = std::vector<uint32_t>;  // row by row

// Runs a form on matrices of elements of `bits` bits.
template <class Form>
Matrix product(const Matrix& a, const Matrix& b, const Matrix& c, int rows,
               int k, int bits) {
  const int per = 32 / bits;
  std::vector<uint32_t> fa(32 * Form::kA), fb(32 * Form::kB), fc(32 * Form::kC);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < per; ++e) {
      for (int r = 0; r < Form::kA; ++r) {
        const Element at = in_a(lane, r, e, per, rows);
        fa[lane * Form::kA + r] |= a[at.row * k + at.column] << (e * bits % 32);
      }
      for (int r = 0; r < Form::kB; ++r) {
        const Element at = in_b(lane, r, e, per);
        fb[lane * Form::kB + r] |= b[at.row * 8 + at.column] << (e * bits % 32);
      }
    }
    for (int i = 0; i < Form::kC; ++i) {
      const Element at = in_c(lane, i);
      fc[lane * Form::kC + i] = c[at.row * 8 + at.column];
    }
  }
  const expect::Copy<uint32_t> da(fa), db(fb), dc(fc);
  const auto fd = expect::results<uint32_t>(32 * Form::kC, [&](uint32_t* out) {
    multiply<Form><<<1, 32>>>(da, db, dc, out);
  });
  Matrix d(rows * 8);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < Form::kC; ++i) {
      const Element at = in_c(lane, i);
      d[at.row * 8 + at.column] = fd[lane * Form::kC + i];
    }
  return d;
}

// ---- Whole numbers ----------------------------------------------------------

int64_t extended(uint32_t value, int bits, bool is_signed) {
  const bool negative = is_signed && value >> (bits - 1) & 1;
  return int64_t{value} - (negative ? int64_t{1} << bits : 0);
}

template <class Form>
void check_wholes(int rows, int k, int bits, bool a_signed, bool b_signed,
                  bool saturates = false) {
  std::mt19937 random(rows * k + bits);
  const uint32_t all = (1u << bits) - 1;
  for (int run = 0; run < 4; ++run) {
    Matrix a(rows * k), b(k * 8), c(rows * 8);
    for (uint32_t& x : a) x = random() & all;
    for (uint32_t& x : b) x = random() & all;
    for (uint32_t& x : c)
      x = run % 2 ? random() : (random() % 2 ? 0x7ffffff0 : 0x80000010);
    const Matrix d = product<Form>(a, b, c, rows, k, bits);
    expect::each(d, [&](int at) {
      int64_t sum = static_cast<int32_t>(c[at]);
      for (int n = 0; n < k; ++n)
        sum += extended(a[at / 8 * k + n], bits, a_signed) *
               extended(b[n * 8 + at % 8], bits, b_signed);
      if (saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<uint32_t>(sum);
    });
  }
}

template <class Form>
void check_bits(int words, bool exclusive) {
  std::mt19937 random(words);
  Matrix a(16 * words), b(words * 8), c(16 * 8);
  for (uint32_t& x : a) x = random();
  for (uint32_t& x : b) x = random();
  for (uint32_t& x : c) x = random();
  const Matrix d = product<Form>(a, b, c, 16, words, 32);
  expect::each(d, [&](int at) {
    uint32_t sum = c[at];
    for (int n = 0; n < words; ++n) {
      const uint32_t x = a[at / 8 * words + n], y = b[n * 8 + at % 8];
      sum += __builtin_popcount(exclusive ? x ^ y : x & y);
    }
    return sum;
  });
}

void wholes() {
  check_wholes<Signed32>(16, 32, 8, true, true);
  check_wholes<Mixed32>(16, 32, 8, false, true);
  check_wholes<Unsigned16>(16, 16, 8, false, false);
  check_wholes<Signed16>(8, 16, 8, true, true);
  check_wholes<Saturated32>(16, 32, 8, true, true, true);
  check_wholes<Nibbles64>(16, 64, 4, true, true);
  check_wholes<Nibbles32>(8, 32, 4, false, false);
  check_bits<Xor256>(8, true);
  check_bits<And128>(4, false);
}

// ---- Sums of floating-point products ----------------------------------------

template <class Form>
void check_sums(Format f, int k) {
  std::mt19937 random(f.mantissa * 100 + k);
  const int far = f.exponent == 5 ? 14 : 40;
  for (int run = 0; run < kRuns; ++run) {
    const int spread = run % 4 == 0 ? 1 : run % 4 == 1 ? 6 : far;
    const int shift = static_cast<int>(random() % 60) - 30;
    Matrix a(16 * k), b(k * 8), c(16 * 8);
    for (uint32_t& x : a) x = some_number(f, random, -spread, spread);
    for (uint32_t& x : b) x = some_number(f, random, -spread, spread);
    for (uint32_t& x : c) x = some_number(kFloat, random, shift - 3, shift + 3);
    if (run % 3 == 0)  // Products that cancel, but for the last bits.
      for (int n = 0; n + 1 < k; n += 2) {
        for (int i = 0; i < 16; ++i)
          a[i * k + n + 1] =
              a[i * k + n] ^ 1u << (f.bits - 1) ^ (random() % 4) << f.unused;
        for (int j = 0; j < 8; ++j) b[(n + 1) * 8 + j] = b[n * 8 + j];
      }
    const Matrix d = product<Form>(a, b, c, 16, k, f.bits);
    expect::each(d, [&](int at) {
      return expected_sum(f, &a[at / 8 * k], &b[at % 8], k, c[at]);
    });
  }
}

void sums() {
  check_sums<Half16>(kHalf, 16);
  check_sums<Half8>(kHalf, 8);
  check_sums<Bfloat16>(kBfloat, 16);
  check_sums<Bfloat8>(kBfloat, 8);
  check_sums<Tfloat8>(kTfloat, 8);
  check_sums<Tfloat4>(kTfloat, 4);
}

// What is no number, in one row of A.
void specials() {
  constexpr uint32_t kOne = 0x3c00, kInfinity = 0x7c00, kNan = 0x7e01;
  Matrix a(16 * 16, kOne), b(16 * 8, kOne), c(16 * 8, 0);
  a[0] = kInfinity;                               // row 0: infinity
  a[16] = kInfinity, a[17] = kInfinity | 0x8000;  // row 1: both
  a[2 * 16] = kNan;
  a[3 * 16] = kInfinity | 0x8000;
  for (int n = 0; n < 16; ++n) a[4 * 16 + n] = 0x8000;  // row 4: only -0
  c[4 * 8] = 0x80000000;
  c[5 * 8] = 0x7f800000, c[6 * 8] = 0xffc12345;
  b[1] = 0;  // column 1: 0 times what column 0 of A holds
  const Matrix d = product<Half16>(a, b, c, 16, 16, 16);
  constexpr uint32_t kNanResult = 0x7fffffff;
  expect::equal(d[0], 0x7f800000u);
  expect::equal(d[1], kNanResult);
  expect::equal(d[1 * 8], kNanResult);
  expect::equal(d[2 * 8], kNanResult);
  expect::equal(d[3 * 8], 0xff800000u);
  expect::equal(d[4 * 8], 0u);
  expect::equal(d[5 * 8], 0x7f800000u);
  expect::equal(d[6 * 8], kNanResult);
  expect::equal(d[7 * 8], 0x41800000u);
  // Sums that are too small for a float are +0, also below zero.
  const Matrix tiny =
      product<Bfloat16>(Matrix(16 * 16, 0x9780), Matrix(16 * 8, 0x1780),
                        Matrix(16 * 8, 0), 16, 16, 16);
  expect::each(tiny, [](int) { return 0u; });
}

// ---- Four products of 8 x 8 x 4 --------------------------------------------

// Of product q, rows and columns 0 to 3 are those of lanes 4q to 4q + 3, the
// others those of 16 lanes further.
int lane_of(int q, int row) { return 4 * q + row % 4 + row / 4 * 16; }

__global__ void multiply_quarters(const uint32_t* a, const uint32_t* b,
                                  const uint32_t* c, uint32_t* d) {
  const int lane = threadIdx.x;
  a += 2 * lane, b += 2 * lane, c += 4 * lane, d += 4 * lane;
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, "
      "{%6,%7}, {%8,%9,%10,%11};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
}

// Bits of halves, two in a word.
uint16_t half_at(const std::vector<uint32_t>& words, int at) {
  return static_cast<uint16_t>(words[at / 2] >> at % 2 * 16);
}
float value_at(const std::vector<uint32_t>& words, int at) {
  return __half2float(__ushort_as_half(half_at(words, at)));
}

void quarters() {
  std::mt19937 random(4);
  for (int run = 0; run < 20; ++run) {
    std::vector<uint32_t> a(32 * 2), b(32 * 2), c(32 * 4);
    for (auto* words : {&a, &b, &c})
      for (uint32_t& x : *words)
        x = some_number(kHalf, random, -3, 4) |
            some_number(kHalf, random, -3, 4) << 16;
    const expect::Copy<uint32_t> da(a), db(b), dc(c);
    const auto d = expect::results<uint32_t>(32 * 4, [&](uint32_t* out) {
      multiply_quarters<<<1, 32>>>(da, db, dc, out);
    });
    for (int k = 0; k < 256; ++k) {
      const int q = k / 64, i = k / 8 % 8, j = k % 8;
      const auto two = [&](int first) {
        const int x = lane_of(q, i) * 4 + first, y = lane_of(q, j) * 4 + first;
        return std::fma(value_at(a, x + 1), value_at(b, y + 1),
                        value_at(a, x) * value_at(b, y));
      };
      const int at = lane_of(q, i) * 8 + j;
      const float sum = value_at(c, at) + two(0) + two(2);
      expect::equal(half_at(d, at), __half_as_ushort(__float2half_rn(sum)));
    }
  }
}

// ---- Doubles ----------------------------------------------------------------

__global__ void multiply_doubles(const double* a, const double* b, double* d) {
  const int lane = threadIdx.x, row = lane / 4, k = lane % 4;
  double d0, d1;
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "
      "{%4,%5};"
      : "=d"(d0), "=d"(d1)
      : "d"(a[row * 4 + k]), "d"(b[k * 8 + row]), "d"(1.0 / 3), "d"(1.0 / 3));
  d[row * 8 + k * 2] = d0;
  d[row * 8 + k * 2 + 1] = d1;
}

void doubles() {
  std::mt19937 random(5);
  std::vector<double> a(32), b(32);
  for (double& x : a) x = std::ldexp(static_cast<double>(random()) - 2e9, -30);
  for (double& x : b) x = std::ldexp(static_cast<double>(random()) - 2e9, -28);
  const expect::Copy<double> da(a), db(b);
  const auto d = expect::results<double>(
      64, [&](double* out) { multiply_doubles<<<1, 32>>>(da, db, out); });
  expect::each(d, [&](int at) {
    double sum = 1.0 / 3;
    for (int k = 0; k < 4; ++k)
      sum = std::fma(a[at / 8 * 4 + k], b[k * 8 + at % 8], sum);
    return sum;
  });
}

// ---- ldmatrix, stmatrix, movmatrix ------------------------------------------

// Row r of matrix m is at 16 * (8 * m + r) + 32 * m bytes: the matrices are
// apart.
__device__ uint32_t row_address(const uint16_t* shared, int row) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 16 * row +
         row / 8 * 32;
}

template <bool kTransposed>
__global__ void load_matrices(uint32_t* out) {
  __shared__ __align__(16) uint16_t box[32 * 8 + 4 * 16];
  const int lane = threadIdx.x;
  for (int k = 0; k < 8; ++k)
    box[lane * 8 + lane / 8 * 16 + k] = static_cast<uint16_t>(lane * 8 + k);
  __syncwarp();
  uint32_t r[4];
  const uint32_t at = row_address(box, lane);
  if (kTransposed)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(at)
        : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
  for (int m = 0; m < 4; ++m) out[m * 32 + lane] = r[m];
}

template <bool kTransposed>
__global__ void store_matrices(uint16_t* out) {
  __shared__ __align__(16) uint16_t box[32 * 8 + 4 * 16];
  const int lane = threadIdx.x;
  const auto pair = [&](int m) {
    const uint32_t first = m * 64 + lane / 4 * 8 + lane % 4 * 2;
    return first | (first + 1) << 16;
  };
  const uint32_t at = row_address(box, lane);
  if (kTransposed)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::
            "r"(at),
        "r"(pair(0)), "r"(pair(1)), "r"(pair(2)), "r"(pair(3))
        : "memory");
  else
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
            at),
        "r"(pair(0)), "r"(pair(1)), "r"(pair(2)), "r"(pair(3))
        : "memory");
  __syncwarp();
  for (int k = 0; k < 8; ++k)
    out[lane * 8 + k] = box[lane * 8 + lane / 8 * 16 + k];
}

// Fewer rows than lanes: those without one have any address.
__global__ void load_one(uint32_t* out) {
  __shared__ __align__(16) uint16_t box[64];
  const int lane = threadIdx.x;
  box[lane] = lane;
  box[lane + 32] = lane + 32;
  __syncwarp();
  const uint32_t at =
      lane < 8
          ? static_cast<uint32_t>(__cvta_generic_to_shared(box)) + 16 * lane
          : 0xfffffff1;
  uint32_t r;
  asm volatile("ldmatrix.sync.aligned.x1.trans.m8n8.shared.b16 {%0}, [%1];"
               : "=r"(r)
               : "r"(at)
               : "memory");
  out[lane] = r;
}

__global__ void transpose(uint32_t* out) {
  const uint32_t first = threadIdx.x * 2;
  uint32_t r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(r)
               : "r"(first | (first + 1) << 16));
  out[threadIdx.x] = r;
}

uint32_t plain_pair(int m, int lane) {
  const uint32_t first = m * 64 + lane * 2;
  return first | (first + 1) << 16;
}
uint32_t transposed_pair(int m, int lane) {
  const uint32_t first = m * 64 + lane % 4 * 16 + lane / 4;
  return first | (first + 8) << 16;
}

void moves() {
  expect::each(
      expect::results<uint32_t>(
          128, [](auto* out) { load_matrices<false><<<1, 32>>>(out); }),
      [](int i) { return plain_pair(i / 32, i % 32); });
  expect::each(expect::results<uint32_t>(
                   128, [](auto* out) { load_matrices<true><<<1, 32>>>(out); }),
               [](int i) { return transposed_pair(i / 32, i % 32); });
  expect::each(
      expect::results<uint16_t>(
          256, [](auto* out) { store_matrices<false><<<1, 32>>>(out); }),
      [](int i) { return i; });
  expect::each(
      expect::results<uint16_t>(
          256, [](auto* out) { store_matrices<true><<<1, 32>>>(out); }),
      [](int i) { return i / 64 * 64 + i % 8 * 8 + i / 8 % 8; });
  expect::each(expect::results<uint32_t>(
                   32, [](auto* out) { load_one<<<1, 32>>>(out); }),
               [](int i) { return transposed_pair(0, i); });
  expect::each(expect::results<uint32_t>(
                   32, [](auto* out) { transpose<<<1, 32>>>(out); }),
               [](int i) { return transposed_pair(0, i); });
}

// ---- wmma -------------------------------------------------------------------

enum Where { kGlobal, kShared };

template <class Layout>
constexpr bool kByRows = std::is_same_v<Layout, wmma::row_major>;

// D = A * B + C with rows `pad` elements further apart than they need to be.
template <class T, class Sum, int m, int n, int k, class LayoutA, class LayoutB,
          Where where>
__global__ void tile(const T* a, int lda, const T* b, int ldb, const Sum* c,
                     Sum* d, int ldc, bool by_columns) {
  extern __shared__ __align__(256) unsigned char box[];
  const auto layout = by_columns ? wmma::mem_col_major : wmma::mem_row_major;
  const int count_a = (kByRows<LayoutA> ? m : k) * lda;
  const int count_b = (kByRows<LayoutB> ? k : n) * ldb;
  const int count_c = (by_columns ? n : m) * ldc;
  if (where == kShared) {
    T* sa = reinterpret_cast<T*>(box);
    T* sb = reinterpret_cast<T*>(box + 8192);
    Sum* sc = reinterpret_cast<Sum*>(box + 16384);
    for (int i = threadIdx.x; i < count_a; i += 32) sa[i] = a[i];
    for (int i = threadIdx.x; i < count_b; i += 32) sb[i] = b[i];
    for (int i = threadIdx.x; i < count_c; i += 32) sc[i] = c[i];
    __syncwarp();
    a = sa, b = sb, c = sc;
  }
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> fc;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + fc.x[i];
  if (where == kShared) {
    Sum* sd = reinterpret_cast<Sum*>(box + 24576);
    wmma::store_matrix_sync(sd, fc, ldc, layout);
    __syncwarp();
    for (int i = threadIdx.x; i < m * n; i += 32) {
      const int at = by_columns ? i / m * ldc + i % m : i / n * ldc + i % n;
      d[at] = sd[at];
    }
  } else {
    wmma::store_matrix_sync(d, fc, ldc, layout);
  }
}

// Small whole numbers: every sum is exact.
template <class T, class Sum, int m, int n, int k, class LayoutA, class LayoutB,
          Where where>
void check_tile(bool by_columns) {
  constexpr int kPad = 16;
  const int lda = (kByRows<LayoutA> ? k : m) + kPad;
  const int ldb = (kByRows<LayoutB> ? n : k) + kPad;
  const int ldc = (by_columns ? m : n) + kPad;
  const auto in_a = [](int i, int j) { return (i * 3 + j * 5) % 8; };
  const auto in_b = [](int i, int j) { return (i * 7 + j * 2) % 6; };
  std::vector<T> a(32 * 48), b(32 * 48);
  std::vector<Sum> c(32 * 48);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j)
      a[kByRows<LayoutA> ? i * lda + j : j * lda + i] =
          static_cast<T>(static_cast<float>(in_a(i, j)));
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j)
      b[kByRows<LayoutB> ? i * ldb + j : j * ldb + i] =
          static_cast<T>(static_cast<float>(in_b(i, j)));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      c[by_columns ? j * ldc + i : i * ldc + j] =
          static_cast<Sum>(static_cast<float>(i - j));
  const expect::Copy<T> da(a), db(b);
  const expect::Copy<Sum> dc(c);
  const auto d = expect::results<Sum>(c.size(), [&](Sum* out) {
    tile<T, Sum, m, n, k, LayoutA, LayoutB, where>
        <<<1, 32, 32768>>>(da, lda, db, ldb, dc, out, ldc, by_columns);
  });
  std::vector<float> got(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      got[i * n + j] =
          static_cast<float>(d[by_columns ? j * ldc + i : i * ldc + j]);
  expect::each(got, [&](int at) {
    int sum = at / n - at % n;
    for (int l = 0; l < k; ++l) sum += in_a(at / n, l) * in_b(l, at % n);
    return 2 * sum;
  });
}

template <class T, class Sum, int m, int n, int k, Where where>
void check_layouts() {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  check_tile<T, Sum, m, n, k, Row, Row, where>(false);
  check_tile<T, Sum, m, n, k, Row, Column, where>(true);
  check_tile<T, Sum, m, n, k, Column, Row, where>(true);
  check_tile<T, Sum, m, n, k, Column, Column, where>(false);
}
template <class T, class Sum>
void check_shapes() {
  check_layouts<T, Sum, 16, 16, 16, kGlobal>();
  check_layouts<T, Sum, 16, 16, 16, kShared>();
  check_layouts<T, Sum, 32, 8, 16, kGlobal>();
  check_layouts<T, Sum, 32, 8, 16, kShared>();
  check_layouts<T, Sum, 8, 32, 16, kGlobal>();
  check_layouts<T, Sum, 8, 32, 16, kShared>();
}

// Which elements a lane holds is no secret that programs keep: x[i] in order.
__global__ void elements(const half* numbers, uint16_t* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::load_matrix_sync(a, numbers, 16);
  for (int i = 0; i < a.num_elements; ++i)
    out[threadIdx.x * a.num_elements + i] = __half_as_ushort(a.x[i]);
}

void check_elements() {
  std::vector<uint16_t> bits(256);
  for (int i = 0; i < 256; ++i) bits[i] = static_cast<uint16_t>(i);
  const expect::Copy<uint16_t> numbers(bits);
  const auto got = expect::results<uint16_t>(512, [&](uint16_t* out) {
    elements<<<1, 32>>>(
        reinterpret_cast<const half*>(static_cast<const uint16_t*>(numbers)),
        out);
  });
  expect::each(got, [](int i) {
    const int lane = i / 16, x = i % 8;  // The second eight are the first.
    const int row = lane / 4 + x / 2 % 2 * 8;
    return row * 16 + lane % 4 * 2 + x % 2 + x / 4 * 8;
  });
}

void tiles() {
  check_shapes<half, float>();
  check_shapes<half, half>();
  check_shapes<__nv_bfloat16, float>();
  check_shapes<signed char, int>();
  check_shapes<unsigned char, int>();
  check_layouts<double, double, 8, 8, 4, kGlobal>();
  check_layouts<double, double, 8, 8, 4, kShared>();
  check_elements();
}

// ---- Rows that nobody wrote -------------------------------------------------

// Of a tile only the first rows are there; of the results only theirs are used,
// also behind movmatrix and stmatrix.
__global__ void ragged(int rows, float* sums, uint16_t* moved) {
  __shared__ __align__(32) uint16_t box[16 * 16], kept[64];
  const int lane = threadIdx.x;
  for (int i = lane; i < rows * 16; i += 32) box[i] = 0x3c00;
  __syncwarp();
  uint32_t a[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(box)) +
                     lane % 16 * 32 + lane / 16 * 16)
               : "memory");
  const uint32_t b[2] = {0x3c003c00, 0x3c003c00}, c[4] = {};
  uint32_t d[4];
  Half16::run(d, a, b, c);
  if (lane % 4 == 0 && lane / 4 < rows) sums[lane / 4] = __uint_as_float(d[0]);
  if (lane % 4 == 0 && lane / 4 + 8 < rows)
    sums[lane / 4 + 8] = __uint_as_float(d[2]);
  uint32_t columns;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(columns)
               : "r"(a[1]));
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(
          static_cast<uint32_t>(__cvta_generic_to_shared(kept)) +
          lane % 8 * 16),
      "r"(columns)
      : "memory");
  __syncwarp();
  if (lane < (rows - 8) * 8) moved[lane] = kept[lane];
}

void rows_apart() {
  constexpr int kRows = 10;
  const auto sums = expect::results<float>(kRows + 8, [](float* out) {
    ragged<<<1, 32>>>(kRows, out, reinterpret_cast<uint16_t*>(out + kRows));
  });
  for (int i = 0; i < kRows; ++i) expect::equal(sums[i], 16.f);
  uint32_t pair;
  std::memcpy(&pair, &sums[kRows + 7], sizeof pair);
  expect::equal(pair, 0x3c003c00u);
}

}  // namespace

int main() {
  wholes();
  sums();
  specials();
  quarters();
  doubles();
  moves();
  tiles();
  rows_apart();
  return expect::report();
}
