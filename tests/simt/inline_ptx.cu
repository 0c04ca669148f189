// PTX that people write into their kernels: scopes in braces, with labels and
// registers of their own, all the ways to write a number, the carry flag, and
// registers of eight bits.

#include <bit>
#include <vector>

#include "tests/simt/expect.h"

namespace {

// Its label is there once for each place where it is inlined.
__device__ __forceinline__ int count_to(int n) {
  int result;
  asm volatile(
      "{\n .reg .pred p;\n mov.s32 %0, 0;\n"
      "LOOP:\n add.s32 %0, %0, 1;\n setp.lt.s32 p, %0, %1;\n @p bra LOOP;\n}"
      : "=&r"(result)
      : "r"(n));
  return result;
}

__global__ void same_label_kernel(int* out, int a, int b) {
  out[0] = count_to(a);
  out[1] = count_to(b);
}

void check_same_label() {
  const auto got = expect::results<int>(
      2, [](int* out) { same_label_kernel<<<1, 1>>>(out, 5, 7); });
  expect::equal(got[0], 5);
  expect::equal(got[1], 7);
}

// An inner LOOP within an outer one, and out of both to what follows them.
__global__ void nested_kernel(int* out, int turns) {
  int result;
  asm volatile(
      "{\n .reg .pred p;\n .reg .s32 outer, inner;\n"
      " mov.s32 %0, 0;\n mov.s32 outer, 0;\n"
      "LOOP:\n add.s32 outer, outer, 1;\n"
      " {\n  .reg .pred p;\n  mov.s32 inner, 0;\n"
      " LOOP:\n  add.s32 inner, inner, 1;\n  add.s32 %0, %0, 1;\n"
      "  setp.ge.s32 p, %0, 100;\n  @p bra END;\n"
      "  setp.lt.s32 p, inner, outer;\n  @p bra LOOP;\n }\n"
      " setp.lt.s32 p, outer, %1;\n @p bra LOOP;\n"
      "END:\n add.s32 %0, %0, 1000;\n}"
      : "=&r"(result)
      : "r"(turns));
  out[threadIdx.x] = result;
}

void check_nested() {
  const auto few = expect::results<int>(
      1, [](int* out) { nested_kernel<<<1, 1>>>(out, 4); });
  expect::equal(few[0], 1000 + 1 + 2 + 3 + 4);
  const auto many = expect::results<int>(
      1, [](int* out) { nested_kernel<<<1, 1>>>(out, 99); });
  expect::equal(many[0], 1100);
}

// A register of an inner scope hides the outer one of its name.
__global__ void hidden_kernel(int* out) {
  int result;
  asm volatile(
      "{\n .reg .s32 x;\n mov.s32 x, 1;\n"
      " {\n  .reg .s64 x;\n  mov.s64 x, 2;\n }\n mov.s32 %0, x;\n}"
      : "=r"(result));
  out[0] = result;
}

void check_hidden() {
  const auto got =
      expect::results<int>(1, [](int* out) { hidden_kernel<<<1, 1>>>(out); });
  expect::equal(got[0], 1);
}

// Tables of jumps, whose labels are those of their scope.
__device__ __forceinline__ int jump(int to) {
  int result;
  asm volatile(
      "{\n"
      "TABLE: .branchtargets FIRST, SECOND, THIRD;\n brx.idx %1, TABLE;\n"
      "FIRST:\n mov.s32 %0, 10;\n bra END;\n"
      "SECOND:\n mov.s32 %0, 20;\n bra END;\n"
      "THIRD:\n mov.s32 %0, 30;\nEND:\n}"
      : "=r"(result)
      : "r"(to));
  return result;
}

__global__ void jump_kernel(int* out) {
  const int i = threadIdx.x;
  out[i] = jump(i % 3) + 100 * jump((i + 1) % 3);
}

void check_jumps() {
  const auto got =
      expect::results<int>(32, [](int* out) { jump_kernel<<<1, 32>>>(out); });
  expect::each(
      got, [](int i) { return 10 * (i % 3 + 1) + 1000 * ((i + 1) % 3 + 1); });
}

__global__ void numbers_kernel(uint64_t* out) {
#define NUMBER(INDEX, TEXT) \
  asm volatile("mov.u64 %0, " TEXT ";" : "=l"(out[INDEX]))
  NUMBER(0, "12U");
  NUMBER(1, "0x1fU");
  NUMBER(2, "0b101");
  NUMBER(3, "017");
  NUMBER(4, "-5");
  NUMBER(5, "0xffffffffffffffff");
#undef NUMBER
  float f;
  double d;
  asm volatile("add.f32 %0, 0f3F800000, 1.5;" : "=f"(f));
  asm volatile("add.f64 %0, 0d3FF0000000000000, 2.5e-1;" : "=d"(d));
  out[6] = __float_as_uint(f);
  out[7] = __double_as_longlong(d);
}

void check_numbers() {
  const auto got = expect::results<uint64_t>(
      8, [](uint64_t* out) { numbers_kernel<<<1, 1>>>(out); });
  const uint64_t expected[] = {
      12,           31,           5,          15,
      uint64_t(-5), ~uint64_t{0}, 0x40200000, 0x3ff4000000000000};
  for (int k = 0; k < 8; ++k) expect::equal(got[k], expected[k]);
}

// ptxas takes modifiers in any order, but for types.
__global__ void orders_kernel(uint32_t* out, float* word) {
  const uint32_t lane = threadIdx.x;
  uint32_t votes, next, sum, old;
  asm volatile(
      "{\n .reg .pred p;\n setp.u32.lt p, %1, 5;\n"
      " vote.ballot.sync.b32 %0, p, 0xffffffff;\n}"
      : "=r"(votes)
      : "r"(lane));
  asm volatile("shfl.down.sync.b32 %0, %1, 1, 31, 0xffffffff;"
               : "=r"(next)
               : "r"(lane));
  asm volatile("redux.add.sync.u32 %0, %1, 0xffffffff;"
               : "=r"(sum)
               : "r"(lane));
  asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], 1;"
               : "=r"(old)
               : "l"(out + 4)
               : "memory");
  float added, read;
  asm volatile("add.f32.rz %0, %1, %2;"
               : "=f"(added)
               : "f"(1.f), "f"(0x1p-25f));
  asm volatile("ld.f32.global.cg %0, [%1];" : "=f"(read) : "l"(word));
  if (lane != 3) return;
  out[0] = votes;
  out[1] = next;
  out[2] = sum;
  out[3] = added == 1.f && read == 2.5f;
}

void check_orders() {
  float* word;
  expect::ok(cudaMalloc(&word, sizeof(float)));
  const float value = 2.5f;
  expect::ok(cudaMemcpy(word, &value, sizeof value, cudaMemcpyHostToDevice));
  const auto got = expect::results<uint32_t>(
      5, [=](uint32_t* out) { orders_kernel<<<1, 32>>>(out, word); });
  const uint32_t expected[] = {31, 4, 496, 1};
  for (int k = 0; k < 4; ++k) expect::equal(got[k], expected[k]);
  expect::ok(cudaFree(word));
}

// The flag of a subtraction is set where it does not borrow, which shows where
// a sum takes it; and the other way round. nvcc divides 128 bits so.
__global__ void carry_kernel(uint32_t* out, uint32_t a, uint32_t b) {
  asm volatile("{.reg .u32 t; sub.cc.u32 t, %1, %2; addc.u32 %0, 0, 0;}"
               : "=r"(out[0])
               : "r"(a), "r"(b));
  asm volatile("{.reg .u32 t; sub.cc.u32 t, %1, %2; subc.u32 %0, 0, 0;}"
               : "=r"(out[1])
               : "r"(a), "r"(b));
  asm volatile("{.reg .u32 t; add.cc.u32 t, %1, %2; subc.u32 %0, 0, 0;}"
               : "=r"(out[2])
               : "r"(a), "r"(b));
  asm volatile("{.reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, 0, 0;}"
               : "=r"(out[3])
               : "r"(a), "r"(b));
  asm volatile("{.reg .u32 t; sub.cc.u32 t, %1, %2; madc.lo.u32 %0, 0, 0, 0;}"
               : "=r"(out[4])
               : "r"(a), "r"(b));
}

template <class T>
__global__ void divide_kernel(T* out, const T* x) {
  out[0] = x[0] / x[1];
  out[1] = x[0] % x[1];
}

template <class T>
void check_division(T a, T b) {
  const expect::Copy<T> x({a, b});
  const auto got = expect::results<T>(
      2, [&](T* out) { divide_kernel<T><<<1, 1>>>(out, x); });
  expect::is_true(got[0] == a / b, "a quotient of 128 bits");
  expect::is_true(got[1] == a % b, "a remainder of 128 bits");
}

void check_carry() {
  const uint32_t numbers[] = {0, 1, 3, 4, 5, 0x7fffffff, 0x80000000, ~0u};
  for (uint32_t a : numbers)
    for (uint32_t b : numbers) {
      const auto got = expect::results<uint32_t>(
          5, [&](uint32_t* out) { carry_kernel<<<1, 1>>>(out, a, b); });
      const bool carries = a + b < a;
      expect::equal(got[0], a >= b);
      expect::equal(got[1], a >= b ? 0 : ~0u);
      expect::equal(got[2], carries ? 0 : ~0u);
      expect::equal(got[3], carries);
      expect::equal(got[4], a >= b);
      using Wide = unsigned __int128;
      const Wide wide = Wide{a} << 90 | Wide{b} << 31 | a,
                 by = Wide{b} << 40 | 7;
      check_division<Wide>(wide, by);
      check_division<Wide>(wide, b | 1);
      check_division<__int128>(-static_cast<__int128>(wide), by);
      check_division<__int128>(wide, -static_cast<__int128>(b | 1));
    }
}

// Registers of 8 bits, as CUB's ThreadLoad has them.
__global__ void bytes_kernel(uint32_t* out, const uint8_t* x, uint8_t* y) {
  const uint32_t i = threadIdx.x;
  uint16_t wide;
  asm volatile("{.reg .b8 d; ld.global.u8 d, [%1]; cvt.u16.u8 %0, d;}"
               : "=h"(wide)
               : "l"(x + i));
  out[i] = wide;
  asm volatile("{.reg .s8 d; ld.volatile.global.s8 d, [%1]; cvt.s16.s8 %0, d;}"
               : "=h"(wide)
               : "l"(x + i));
  out[32 + i] = wide;
  asm volatile(
      "{.reg .u8 a, b; ld.global.v2.u8 {a, b}, [%1]; cvt.u16.u8 %0, b;}"
      : "=h"(wide)
      : "l"(x + 2 * i));
  out[64 + i] = wide;
  asm volatile("{.reg .b8 a, b; mov.b16 {a, b}, %1; cvt.u32.u8 %0, b;}"
               : "=r"(out[96 + i])
               : "h"(static_cast<uint16_t>(300 * i)));
  asm volatile(
      "{.reg .u8 a, b; cvt.u8.u32 a, %0; cvt.u8.u32 b, %1;"
      " st.global.v2.u8 [%2], {a, b}; st.global.u8 [%2+64], b;}" ::"r"(5 * i),
      "r"(7 * i), "l"(y + 2 * i));
}

void check_bytes() {
  std::vector<uint8_t> x(64);
  for (size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<uint8_t>(37 * k + 200);
  const expect::Copy<uint8_t> from(x);
  std::vector<uint32_t> got;
  const auto stored = expect::results<uint8_t>(128, [&](uint8_t* y) {
    got = expect::results<uint32_t>(
        128, [&](uint32_t* out) { bytes_kernel<<<1, 32>>>(out, from, y); });
  });
  for (uint32_t i = 0; i < 32; ++i) {
    expect::equal(got[i], x[i]);
    expect::equal(got[32 + i],
                  static_cast<uint16_t>(static_cast<int8_t>(x[i])));
    expect::equal(got[64 + i], x[2 * i + 1]);
    expect::equal(got[96 + i], 300 * i >> 8 & 255);
    expect::equal(stored[2 * i], static_cast<uint8_t>(5 * i));
    expect::equal(stored[2 * i + 1], static_cast<uint8_t>(7 * i));
    expect::equal(stored[64 + 2 * i], static_cast<uint8_t>(7 * i));
  }
}

// ---- What changes nothing that a program sees, and what it may ask ----------

__global__ void forms_kernel(uint32_t* out) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int room[];
  asm volatile("fence.proxy.alias;" ::: "memory");
  asm volatile("pmevent 7;");
  asm volatile("pmevent.mask 3;");
  const float values[] = {1.0001f, -3.4028235e38f, __int_as_float(0x7f800000),
                          __int_as_float(0xff800000)};
  for (int k = 0; k < 4; ++k)
    asm("cvt.rna.satfinite.tf32.f32 %0, %1;" : "=r"(out[k]) : "f"(values[k]));
  uint32_t all, begin, end, size, part;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(part));
  asm("mov.u32 %0, %%aggr_smem_size;" : "=r"(all));
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(begin));
  asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(end));
  asm("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(size));
  room[threadIdx.x] = 1;
  out[4] = all - part;
  out[5] = end - begin <= size;  // how much of it is in use
  out[6] = size;
#endif
}

void check_forms() {
  const auto got = expect::results<uint32_t>(
      7, [](uint32_t* out) { forms_kernel<<<1, 1, 256>>>(out); });
  int reserved = 0;
  expect::ok(cudaDeviceGetAttribute(
      &reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0));
  const uint32_t expected[] = {0x3f800000,
                               0xff7fe000,
                               0x7f7fe000,
                               0xff7fe000,
                               static_cast<uint32_t>(reserved),
                               1,
                               static_cast<uint32_t>(reserved)};
  for (int k = 0; k < 7; ++k) expect::equal(got[k], expected[k]);
}

// Numbers that ptxas computes, in 64 bits: what it makes of each is known from
// its object files.
#define EXPRESSIONS(number)                              \
  number("(3+4)*2", 14);                                 \
  number("5-2-1", 2);                                    \
  number("-7/2", -3);                                    \
  number("-16 %% 3", 0);                                 \
  number("2+3<<1", 10);                                  \
  number("-16>>2", -4);                                  \
  number("-1U>>63", 1);                                  \
  number("1<<65", 2);                                    \
  number("-1>>70", -1);                                  \
  number("~0/2", 0x7fffffffffffffff);                    \
  number("(5|-1)/2", 0);                                 \
  number("0xff&~0xf", 0xf0);                             \
  number("1|2^3&4", 3);                                  \
  number("1|6==6", 1);                                   \
  number("-1<0U", 0);                                    \
  number("!1U-1<0", 1);                                  \
  number("(1?-1:1U)/2", 0);                              \
  number("0?1:0?2:3", 3);                                \
  number("(.u64)-1/2", 0x7fffffffffffffff);              \
  number("(.s64)(-1U)<0", 1);                            \
  number("-9223372036854775808>>1", 0x4000000000000000); \
  number("4>2&&3>=3||0", 1);                             \
  number("WARP_SZ-33<0", 1);                             \
  number("WARP_SZ+1", 33);                               \
  number("- -5", 5);

__global__ void expressions_kernel(int64_t* out) {
#define TO_REGISTER(text, value) \
  asm volatile("mov.b64 %0, " text ";" : "=l"(*out++))
  EXPRESSIONS(TO_REGISTER)
  asm volatile("st.global.u64 [%0 + 2 * 4 - (1 << 3)], 3 * 7;" ::"l"(out));
}

void check_expressions() {
  std::vector<int64_t> expected;
#define ITS_VALUE(text, value) expected.push_back(value)
  EXPRESSIONS(ITS_VALUE)
  expected.push_back(3 * 7);
  const auto got = expect::results<int64_t>(
      expected.size(), [](int64_t* out) { expressions_kernel<<<1, 1>>>(out); });
  for (size_t k = 0; k < expected.size(); ++k)
    expect::equal(got[k], expected[k]);
}

// A number of 8 bits, which every lane has.
__global__ void short_numbers_kernel(int* out) {
  int wide, low;
  asm volatile("cvt.s32.s8 %0, 255;" : "=r"(wide));
  asm volatile("cvt.u32.u8 %0, 258;" : "=r"(low));
  uint16_t pair;
  asm volatile("{ .reg .b8 c; cvt.u8.u32 c, %1; mov.b16 %0, {5, c}; }"
               : "=h"(pair)
               : "r"(7));
  out[threadIdx.x] = wide * 1000 + low + 10000 * pair;
}

void check_short_numbers() {
  const auto got = expect::results<int>(
      32, [](int* out) { short_numbers_kernel<<<1, 32>>>(out); });
  for (const int value : got) expect::equal(value, -998 + 10000 * 0x705);
}

// `_` takes what nobody wants: an answer, or an element of one.
__global__ void dropped_kernel(uint32_t* out) {
  asm volatile(
      "atom.global.add.u32 _, [%0], 3;\n"
      "atom.acquire.gpu.global.max.u32 _, [%0], 5;\n"
      "atom.global.cas.b32 _, [%0 + 4], 0, 7;\n"
      "atom.exch.b64 _, [%0 + 8], 0x900000008;\n" ::"l"(out));
#if __CUDA_ARCH__ >= 900
  float low;
  asm volatile("atom.global.v2.f32.add {%0, _}, [%1], {%2, %3};"
               : "=f"(low)
               : "l"(out + 4), "f"(1.5f), "f"(2.f));
  asm volatile("atom.global.v2.f32.add _, [%0], {%1, %2};" ::"l"(out + 4),
               "f"(low + 1), "f"(2.f));
  asm volatile("mov.b32 {_, %0}, %1;"
               : "=h"(*reinterpret_cast<uint16_t*>(out + 6))
               : "r"(0x12345678));
#endif
}

void check_dropped() {
  const auto got = expect::results<uint32_t>(
      7, [](uint32_t* out) { dropped_kernel<<<1, 1>>>(out); });
  const float sums[] = {2.5f, 4.f};
  const uint32_t expected[] = {5,
                               7,
                               8,
                               9,
                               std::bit_cast<uint32_t>(sums[0]),
                               std::bit_cast<uint32_t>(sums[1]),
                               0x1234};
  for (int k = 0; k < 7; ++k) expect::equal(got[k], expected[k]);
}

}  // namespace

int main() {
  check_same_label();
  check_nested();
  check_hidden();
  check_jumps();
  check_numbers();
  check_orders();
  check_carry();
  check_bytes();
  check_forms();
  check_expressions();
  check_short_numbers();
  check_dropped();
  return expect::report();
}
