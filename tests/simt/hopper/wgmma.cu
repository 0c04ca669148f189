// Products of four warps, against the host: where elements lie in registers and
// in shared memory, with every swizzle, along both sides; all types; which bits
// the sums have; signs, and whether D is an addend; and a sparse A.

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tests/simt/expect.h"
#include "tests/simt/hopper/warpgroup.h"
#include "tests/simt/mbarrier.h"
#include "tests/simt/sparsity.h"

namespace {

using namespace warpgroup;

constexpr int kRows = 64, kThreads = 128, kRoom = 80 << 10;

// ---- One instruction on the device ------------------------------------------

struct Job {
  const uint8_t* image;  // what shared memory holds
  uint64_t a, b;         // descriptors, with addresses from its beginning on
  const uint32_t* a_registers;  // four of each thread
  const uint32_t* metadata;     // one of each thread, if A is sparse
  uint32_t* d;                  // all of each thread
  int count;                    //   so many
  int adds;
};

extern __shared__ __align__(1024) uint8_t room[];

__device__ uint64_t placed(uint64_t descriptor) {
  return descriptor + (shared_address(room) >> 4);
}
__device__ void fill(const Job& job) {
  for (int i = threadIdx.x; i < kRoom / 16; i += kThreads)
    reinterpret_cast<uint4*>(room)[i] =
        reinterpret_cast<const uint4*>(job.image)[i];
  fence_for_async();
  __syncthreads();
}

#define COMMA(n) ",d" #n
#define LOAD(n) "add.u64 at, at, 4;\nld.global.b32 d" #n ", [at];\n"
#define STORE(n) "add.u64 at, at, 4;\nst.global.b32 [at], d" #n ";\n"

#define ASM(COUNT, SPARSE, OP, A, METADATA, NUMBERS) \
  asm volatile(                                                        \
      "{\n"                                                            \
      ".reg .pred p;\n"                                                \
      ".reg .b32 d<128>;\n"                                            \
      ".reg .b64 at;\n"                                                \
      "setp.ne.u32 p, %1, 0;\n"                                        \
      "mov.b64 at, %0;\n"                                              \
      "ld.global.b32 d0, [at];\n" REST_OF_##COUNT(LOAD)                \
      "wgmma.fence.sync.aligned;\n"                                    \
      "wgmma.mma_async" SPARSE ".sync.aligned." OP                     \
      " {d0" REST_OF_##COUNT(COMMA) "}, " A ", %2" METADATA ", p" NUMBERS ";\n" \
      "wgmma.commit_group.sync.aligned;\n"                             \
      "wgmma.wait_group.sync.aligned 0;\n"                             \
      "mov.b64 at, %0;\n"                                              \
      "st.global.b32 [at], d0;\n" REST_OF_##COUNT(STORE) "}" ::"l"(d), \
      "r"(job.adds), "l"(placed(job.b)), "l"(placed(job.a)),           \
      "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "n"(sign_a),         \
      "n"(sign_b), "n"(across_a), "n"(across_b), "r"(metadata)         \
      : "memory")

#define PRODUCT(NAME, COUNT, SPARSE, OP, METADATA, OF_SHARED, OF_REGISTERS)  \
  template <bool in_registers, int across_a = 0, int across_b = 0,           \
            int sign_a = 1, int sign_b = 1>                                  \
  __global__ void NAME(Job job) {                                            \
    uint32_t* const d = job.d + threadIdx.x * job.count;                     \
    const uint32_t metadata = job.metadata ? job.metadata[threadIdx.x] : 0;  \
    uint32_t a[4];                                                           \
    for (int r = 0; r < 4; ++r) a[r] = job.a_registers[threadIdx.x * 4 + r]; \
    fill(job);                                                               \
    if constexpr (in_registers)                                              \
      ASM(COUNT, SPARSE, OP, "{%4,%5,%6,%7}", METADATA, OF_REGISTERS);       \
    else                                                                     \
      ASM(COUNT, SPARSE, OP, "%3", METADATA, OF_SHARED);                     \
  }
#define OF_HALVES(NAME, COUNT, OP) \
  PRODUCT(NAME, COUNT, "", OP, "", ", %8, %9, %10, %11", ", %8, %9, %11")
#define OF_FLOATS(NAME, COUNT, OP) \
  PRODUCT(NAME, COUNT, "", OP, "", ", %8, %9", ", %8, %9")
#define OF_WHOLES(NAME, COUNT, OP) PRODUCT(NAME, COUNT, "", OP, "", "", "")
#define OF_SPARSE_HALVES(NAME, COUNT, OP, SELECTOR)                          \
  PRODUCT(NAME, COUNT, ".sp", OP, ", %12, " #SELECTOR, ", %8, %9, %10, %11", \
          ", %8, %9, %11")
#define OF_SPARSE_FLOATS(NAME, COUNT, OP, SELECTOR) \
  PRODUCT(NAME, COUNT, ".sp", OP, ", %12, " #SELECTOR, ", %8, %9", ", %8, %9")
#define OF_SPARSE_WHOLES(NAME, COUNT, OP, SELECTOR) \
  PRODUCT(NAME, COUNT, ".sp", OP, ", %12, " #SELECTOR, "", "")

OF_HALVES(half_8, 4, "m64n8k16.f32.f16.f16")
OF_HALVES(half_24, 12, "m64n24k16.f32.f16.f16")
OF_HALVES(half_64, 32, "m64n64k16.f32.f16.f16")
OF_HALVES(half_128, 64, "m64n128k16.f32.f16.f16")
OF_HALVES(half_256, 128, "m64n256k16.f32.f16.f16")
OF_HALVES(half_in_half_8, 2, "m64n8k16.f16.f16.f16")
OF_HALVES(half_in_half_64, 16, "m64n64k16.f16.f16.f16")
OF_HALVES(bfloat_64, 32, "m64n64k16.f32.bf16.bf16")
OF_FLOATS(tfloat_24, 12, "m64n24k8.f32.tf32.tf32")
OF_FLOATS(e4m3_64, 32, "m64n64k32.f32.e4m3.e4m3")
OF_FLOATS(e4m3_e5m2_8, 4, "m64n8k32.f32.e4m3.e5m2")
OF_FLOATS(e5m2_e4m3_24, 12, "m64n24k32.f32.e5m2.e4m3")
OF_FLOATS(e5m2_64, 32, "m64n64k32.f32.e5m2.e5m2")
OF_FLOATS(e4m3_in_half_64, 16, "m64n64k32.f16.e4m3.e4m3")
OF_FLOATS(e5m2_in_half_8, 2, "m64n8k32.f16.e5m2.e5m2")
OF_WHOLES(s8_64, 32, "m64n64k32.s32.s8.s8")
OF_WHOLES(s8_u8_8, 4, "m64n8k32.s32.s8.u8.satfinite")
OF_WHOLES(u8_s8_256, 128, "m64n256k32.s32.u8.s8")
OF_WHOLES(u8_24, 12, "m64n24k32.s32.u8.u8.satfinite")
OF_WHOLES(bits_64, 32, "m64n64k256.s32.b1.b1.and.popc")
OF_SPARSE_HALVES(sparse_half_64, 32, "m64n64k32.f32.f16.f16", 1)
OF_SPARSE_HALVES(sparse_half_in_half_8, 2, "m64n8k32.f16.f16.f16", 0)
OF_SPARSE_HALVES(sparse_bfloat_24, 12, "m64n24k32.f32.bf16.bf16", 0)
OF_SPARSE_FLOATS(sparse_tfloat_24, 12, "m64n24k16.f32.tf32.tf32", 1)
OF_SPARSE_FLOATS(sparse_e4m3_e5m2_64, 32, "m64n64k64.f32.e4m3.e5m2", 0)
OF_SPARSE_FLOATS(sparse_e5m2_in_half_8, 2, "m64n8k64.f16.e5m2.e5m2", 0)
OF_SPARSE_WHOLES(sparse_s8_u8_64, 32, "m64n64k64.s32.s8.u8", 0)
OF_SPARSE_WHOLES(sparse_u8_256, 128, "m64n256k64.s32.u8.u8.satfinite", 0)

// ---- Numbers ----------------------------------------------------------------

struct Format {
  int bits, exponent_bits, mantissa_bits;  // none of these: a whole number
  int unused = 0;                          // bits below the mantissa
  bool is_signed = false;

  bool is_float() const { return exponent_bits > 0; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  double value(uint32_t number) const {
    if (!is_float())
      return is_signed ? double(static_cast<int8_t>(number)) : double(number);
    number >>= unused;
    const uint32_t mantissa = number & ((1u << mantissa_bits) - 1);
    const int exponent = number >> mantissa_bits & ((1 << exponent_bits) - 1);
    const double sign = number >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    const uint32_t whole = exponent ? mantissa | 1u << mantissa_bits : mantissa;
    return sign * std::ldexp(whole, exponent_of(number) - mantissa_bits);
  }
  // That of the leading digit, which of a small number may be zero.
  int exponent_of(uint32_t number) const {
    const int exponent = number >> mantissa_bits & ((1 << exponent_bits) - 1);
    return std::max(exponent, 1) - bias();
  }
};
constexpr Format kHalf{16, 5, 10}, kBFloat{16, 8, 7}, kTFloat{32, 8, 10, 13},
    kFloat{32, 8, 23}, kE4M3{8, 4, 3}, kE5M2{8, 5, 2}, kS8{8, 0, 0, 0, true},
    kU8{8, 0, 0}, kWord{32, 0, 0}, kInt{32, 0, 0};

std::mt19937 random_bits(64);

// Of exponents that are at most so far from 1's.
uint32_t random_number(const Format& f, int range) {
  const uint32_t all = random_bits();
  if (!f.is_float()) return f.bits == 32 ? all : all & ((1u << f.bits) - 1);
  const int top = (1 << f.exponent_bits) - 2;
  const int exponent = std::clamp(
      f.bias() + static_cast<int>(random_bits() % (2 * range + 1)) - range, 0,
      top);
  const uint32_t mantissa = all & ((1u << f.mantissa_bits) - 1);
  const uint32_t sign = all >> 31 << (f.exponent_bits + f.mantissa_bits);
  return (sign | exponent << f.mantissa_bits | mantissa) << f.unused;
}

// ---- Where elements lie -----------------------------------------------------

// A matrix in shared memory: rows of A or columns of B are its sides.
struct Layout {
  Swizzle swizzle = kNone;
  bool across = false;  // neighbours are those of other sides, not along k
  uint32_t slice = 0;   // of 32 bytes along k, in a swizzle's row
  uint32_t leading = 0, stride = 0;
  uint32_t begin = 0;  // 128 bytes each, from the pattern's usual place on

  int row_bytes() const { return swizzle == kNone ? 16 : 256 >> swizzle; }
  // By rows and columns of chunks, not by addresses as the hardware does it.
  int chunk_in_row(int chunk, int row) const {
    return swizzle == k128  ? chunk ^ row
           : swizzle == k64 ? chunk ^ row / 2
           : swizzle == k32 ? chunk ^ row / 4
                            : chunk;
  }
  size_t offset(int side, int k, int bytes) const {
    const int along = across ? side * bytes : k * bytes + int(slice) * 32;
    const int other = across ? k : side;
    const int row = other % 8, group = other / 8, chunk = along / 16;
    if (swizzle == kNone) {
      const uint32_t of_side = across ? chunk : group;
      const uint32_t of_k = across ? group : chunk;
      return of_side * stride + of_k * leading + row * 16 + along % 16;
    }
    const int chunks = row_bytes() / 16;
    return chunk / chunks * leading + group * stride + row * row_bytes() +
           chunk_in_row(chunk % chunks, row) * 16 + along % 16;
  }
  // It begins at the slice; and its pattern at `begin`.
  uint64_t told(uint32_t address) const {
    return at_address(descriptor(swizzle, leading, stride, begin % 8),
                      address + begin * 128 + slice * 32);
  }
};

// Of 64 to 256 sides, one after the other, without gaps.
Layout along_k(Swizzle swizzle, uint32_t slice = 0, uint32_t begin = 0) {
  Layout l{swizzle, false, slice, 128, 256, begin};
  if (swizzle != kNone) l.stride = 8 * l.row_bytes();
  return l;
}
Layout across_k(Swizzle swizzle, uint32_t begin = 0) {
  Layout l{swizzle, true, 0, 128, 256, begin};
  if (swizzle != kNone) {
    l.stride = 8 * l.row_bytes();  // the other half of k lies behind eight
    l.leading = 2 * l.stride;
  }
  return l;
}
// With gaps, and without a swizzle.
Layout apart(bool across) { return {kNone, across, 0, 2176, 272}; }

// With room for twice as many along k, as a B has that meets a sparse A.
Layout twice_along_k(Layout l, int sides) {
  if (l.swizzle == kNone)
    l.stride = 512;
  else
    l.leading = l.across ? 4 * l.stride : sides / 8 * l.stride;
  return l;
}

struct Element {
  int row, column;
};
// Of D: register `r` of a thread, of which it has one or two elements.
Element in_d(int thread, int r, int e, bool halves) {
  const int row = thread / 32 * 16 + thread % 32 / 4;
  const int i = halves ? 2 * r + e : r;
  return {row + i / 2 % 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}
// Of A: four registers of 4, 2 or 1 elements.
Element in_a(int thread, int r, int e, int per) {
  return {thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8,
          (r / 2 * 4 + thread % 4) * per + e};
}

// ---- One product, and what it should be -------------------------------------

struct Case {
  void (*kernel)(Job);
  int n, k;
  Format a, b, d;
  Layout at_a, at_b;
  bool in_registers = false, adds = true, saturates = false;
  int sign = 1;
  int range = 3;      // of exponents
  int selector = -1;  // A is sparse: of the lanes that say where it has zeros

  int stored() const { return selector < 0 ? k : k / 2; }  // of a row of A
  sparsity::Shape shape() const {
    return {k, a.bits, a.bits == 32 ? 2 : 4, a.bits == 8 ? 1 : 2};
  }
};

constexpr uint32_t kBBegins = 24 << 10;

class Product {
 public:
  explicit Product(const Case& c)
      : c_(c),
        stored_(kRows * c.stored()),
        b_(c.n * c.k),
        d_(kRows * c.n),
        image_(kRoom, 0x7b) {
    for (uint32_t& one : stored_) one = random_number(c.a, c.range);
    for (uint32_t& one : b_) one = random_number(c.b, c.range);
    for (uint32_t& one : d_) one = random_number(c.d, c.range);
    if (c.saturates)  // Near both ends.
      for (uint32_t& one : d_) one = (one & 0x80000fff) ^ 0x7ffff000;
    if (!c.in_registers)
      place(stored_, c.stored(), c.at_a, kRows, c.a.bits / 8, 0);
    place(b_, c.k, c.at_b, c.n, c.b.bits / 8, kBBegins);
    a_ = c.selector < 0
             ? sparsity::Spread{stored_, std::vector<uint32_t>(kThreads)}
             : sparsity::spread(c.shape(), c.selector, kRows, stored_,
                                random_bits);
  }

  void check(expect::Where where = expect::Where::current()) const {
    const std::vector<uint32_t> got = run();
    std::vector<uint32_t> found(kRows * c_.n);
    for (int t = 0; t < kThreads; ++t)
      for (int r = 0; r < count(); ++r)
        for (int e = 0; e <= halves(); ++e) {
          const Element at = in_d(t, r, e, halves());
          const uint32_t bits = got[t * count() + r] >> 16 * e;
          found[at.row * c_.n + at.column] = halves() ? bits & 0xffff : bits;
        }
    expect::each(
        found, [&](int i) { return expected(i / c_.n, i % c_.n); }, where);
  }

 private:
  bool halves() const { return c_.d.bits == 16; }
  int count() const { return c_.n / (halves() ? 4 : 2); }

  void place(const std::vector<uint32_t>& elements, int in_row,
             const Layout& at, int sides, int bytes, uint32_t begin) {
    for (int s = 0; s < sides; ++s)
      for (int k = 0; k < in_row; ++k)
        std::memcpy(&image_.at(begin + at.begin * 128 + at.offset(s, k, bytes)),
                    &elements[s * in_row + k], bytes);
  }

  std::vector<uint32_t> run() const {
    std::vector<uint32_t> a(kThreads * 4), d(kThreads * count());
    const int per = 32 / c_.a.bits;
    for (int t = 0; t < kThreads; ++t) {
      for (int r = 0; r < 4; ++r)
        for (int e = 0; e < per; ++e) {
          const Element at = in_a(t, r, e, per);
          a[t * 4 + r] |= stored_[at.row * c_.stored() + at.column]
                          << e * c_.a.bits % 32;
        }
      for (int r = 0; r < count(); ++r)
        for (int e = 0; e <= halves(); ++e) {
          const Element at = in_d(t, r, e, halves());
          d[t * count() + r] |= d_[at.row * c_.n + at.column] << 16 * e;
        }
    }
    const expect::Copy image(image_);
    const expect::Copy a_there(a), d_there(d), metadata(a_.metadata);
    expect::ok(cudaFuncSetAttribute(
        c_.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRoom));
    Job job{image,   c_.at_a.told(0), c_.at_b.told(kBBegins),
            a_there, metadata,        nullptr,
            count(), c_.adds};
    return expect::results<uint32_t>(d.size(), [&](uint32_t* to) {
      expect::ok(
          cudaMemcpy(to, d_there, d.size() * 4, cudaMemcpyDeviceToDevice));
      job.d = to;
      c_.kernel<<<1, kThreads, kRoom>>>(job);
    });
  }

  uint32_t expected(int row, int column) const {
    return c_.d.is_float() ? float_of(row, column) : whole_of(row, column);
  }
  const uint32_t& a(int row, int k) const { return a_.whole[row * c_.k + k]; }
  const uint32_t& b(int k, int column) const { return b_[column * c_.k + k]; }
  uint32_t addend(int row, int column) const {
    return c_.adds ? d_[row * c_.n + column] : 0;
  }

  uint32_t whole_of(int row, int column) const {
    int64_t sum = static_cast<int32_t>(addend(row, column));
    for (int k = 0; k < c_.k; ++k)
      sum += c_.a.bits == 32
                 ? __builtin_popcount(a(row, k) & b(k, column))
                 : int64_t(c_.a.value(a(row, k)) * c_.b.value(b(k, column)));
    if (c_.saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  }

  // What an H200 does: every term is cut off so many bits below the largest
  // exponent of all; then they are added, and the sum is cut off or, in f16,
  // rounded to nearest.
  uint32_t float_of(int row, int column) const {
    const int kept = c_.a.bits == 8 ? 13 : 25;
    std::vector<double> terms = {c_.d.value(addend(row, column))};
    int top = terms[0] ? c_.d.exponent_of(addend(row, column)) : -1000;
    for (int k = 0; k < c_.k; ++k) {
      const uint32_t left = a(row, k), right = b(k, column);
      terms.push_back(c_.sign * c_.a.value(left) * c_.b.value(right));
      if (terms.back() != 0)
        top = std::max(top, c_.a.exponent_of(left >> c_.a.unused) +
                                c_.b.exponent_of(right >> c_.b.unused));
    }
    double sum = 0;
    for (double term : terms)
      sum += std::ldexp(std::trunc(std::ldexp(term, kept - top)), top - kept);
    return halves() ? half_bits(sum) : float_bits(sum, kept == 13 ? 13 : 23);
  }
  static uint32_t float_bits(double sum, int mantissa_bits) {
    if (sum == 0) return 0;
    const int last = std::ilogb(sum) - mantissa_bits;
    const auto cut = static_cast<float>(
        std::ldexp(std::trunc(std::ldexp(sum, -last)), last));
    uint32_t bits;
    std::memcpy(&bits, &cut, sizeof bits);
    return bits;
  }
  static uint32_t half_bits(double sum) {
    if (sum == 0) return 0;
    const double magnitude = std::abs(sum);
    const int exponent = std::max(std::ilogb(magnitude), -14);
    const auto steps = static_cast<uint32_t>(
        std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    const uint32_t bits = (static_cast<uint32_t>(exponent + 14) << 10) + steps;
    return bits ? std::min(bits, 0x7c00u) | (sum < 0 ? 0x8000 : 0) : 0;
  }

  const Case c_;
  std::vector<uint32_t> stored_, b_, d_;
  sparsity::Spread a_;  // with what is not stored as zeros
  std::vector<uint8_t> image_;
};

void check(const Case& c, expect::Where where = expect::Where::current()) {
  Product(c).check(where);
}

// ---- The checks -------------------------------------------------------------

Case halves(void (*kernel)(Job), int n, Layout a = along_k(kNone),
            Layout b = along_k(kNone)) {
  return {kernel, n, 16, kHalf, kHalf, kFloat, a, b};
}
Case in_registers(Case c) {
  c.in_registers = true;
  return c;
}
Case with_range(Case c, int range) {
  c.range = range;
  return c;
}

void check_layouts() {
  for (Swizzle a : {kNone, k128, k64, k32})
    for (Swizzle b : {kNone, k128, k64, k32}) {
      check(halves(half_64<false>, 64, along_k(a), along_k(b)));
      check(halves(half_64<false, 1, 0>, 64, across_k(a), along_k(b)));
      check(halves(half_64<false, 0, 1>, 64, along_k(a), across_k(b)));
      check(halves(half_64<false, 1, 1>, 64, across_k(a), across_k(b)));
    }
  check(halves(half_64<false>, 64, apart(false), apart(false)));
  check(halves(half_64<false, 1, 1>, 64, apart(true), apart(true)));
  for (uint32_t slice : {1, 2, 3})
    check(halves(half_24<false>, 24, along_k(k128, slice),
                 along_k(k128, 3 - slice)));
  check(halves(half_24<false>, 24, along_k(k64, 1), along_k(k64, 0)));
  for (uint32_t begin : {1, 2, 5, 7}) {
    check(halves(half_24<false>, 24, along_k(k128, 0, begin),
                 along_k(k64, 1, begin)));
    check(halves(half_24<false, 1, 1>, 24, across_k(k32, begin),
                 across_k(k128, begin)));
  }
}

void check_widths() {
  for (Swizzle s : {kNone, k128, k64, k32}) {
    check(halves(half_8<false>, 8, along_k(s), along_k(s)));
    check(halves(half_8<false, 0, 1>, 8, along_k(s), across_k(s)));
    check(halves(half_24<false, 0, 1>, 24, along_k(s), across_k(s)));
    check(halves(half_128<false>, 128, along_k(s), along_k(s)));
    check(halves(half_128<false, 0, 1>, 128, along_k(s), across_k(s)));
    check(halves(half_256<false>, 256, along_k(s), along_k(s)));
    check(halves(half_256<false, 1, 1>, 256, across_k(s), across_k(s)));
    check(in_registers(halves(half_8<true>, 8, {}, along_k(s))));
    check(in_registers(halves(half_64<true, 0, 1>, 64, {}, across_k(s))));
    check(in_registers(halves(half_256<true>, 256, {}, along_k(s))));
  }
}

void check_type(void (*from_shared)(Job), void (*from_registers)(Job), int n,
                Format a, Format b, Format d, bool saturates = false,
                expect::Where where = expect::Where::current()) {
  const int k = 256 / a.bits;
  for (Swizzle s : {kNone, k128, k64, k32}) {
    Case c{from_shared, n, k, a, b, d, along_k(s), along_k(s)};
    c.saturates = saturates;
    for (int range : {1, 4, 30}) check(with_range(c, range), where);
    c.adds = false;
    check(c, where);
    c.kernel = from_registers;
    check(in_registers(c), where);
  }
}

#define CHECK_TYPE(KERNEL, ...) \
  check_type(KERNEL<false>, KERNEL<true>, __VA_ARGS__)

void check_types() {
  CHECK_TYPE(half_64, 64, kHalf, kHalf, kFloat);
  CHECK_TYPE(half_in_half_8, 8, kHalf, kHalf, kHalf);
  CHECK_TYPE(half_in_half_64, 64, kHalf, kHalf, kHalf);
  CHECK_TYPE(bfloat_64, 64, kBFloat, kBFloat, kFloat);
  CHECK_TYPE(tfloat_24, 24, kTFloat, kTFloat, kFloat);
  CHECK_TYPE(e4m3_64, 64, kE4M3, kE4M3, kFloat);
  CHECK_TYPE(e4m3_e5m2_8, 8, kE4M3, kE5M2, kFloat);
  CHECK_TYPE(e5m2_e4m3_24, 24, kE5M2, kE4M3, kFloat);
  CHECK_TYPE(e5m2_64, 64, kE5M2, kE5M2, kFloat);
  CHECK_TYPE(e4m3_in_half_64, 64, kE4M3, kE4M3, kHalf);
  CHECK_TYPE(e5m2_in_half_8, 8, kE5M2, kE5M2, kHalf);
  CHECK_TYPE(s8_64, 64, kS8, kS8, kInt);
  CHECK_TYPE(s8_u8_8, 8, kS8, kU8, kInt, true);
  CHECK_TYPE(u8_s8_256, 256, kU8, kS8, kInt);
  CHECK_TYPE(u8_24, 24, kU8, kU8, kInt, true);
  CHECK_TYPE(bits_64, 64, kWord, kWord, kInt);
}

void check_sparse(void (*from_shared)(Job), void (*from_registers)(Job), int n,
                  Format a, Format b, Format d, int selector,
                  bool saturates = false,
                  expect::Where where = expect::Where::current()) {
  const int k = 512 / a.bits;
  for (Swizzle s : {kNone, k128, k64, k32}) {
    Case c{from_shared, n, k, a, b, d, along_k(s), {}};
    c.at_b = twice_along_k(along_k(s), n);
    c.selector = selector;
    c.saturates = saturates;
    for (int range : {1, 4, 30}) check(with_range(c, range), where);
    c.kernel = from_registers;
    check(in_registers(c), where);
  }
}
void check_sparse_across(void (*kernel)(Job), bool of_a) {
  for (Swizzle s : {kNone, k128, k64, k32}) {
    Case c{kernel, 64, 32, kHalf, kHalf, kFloat, {}, {}};
    c.at_a = of_a ? across_k(s) : along_k(s);
    c.at_b = twice_along_k(of_a ? along_k(s) : across_k(s), 64);
    c.selector = 1;
    check(c);
  }
}

#define CHECK_SPARSE(KERNEL, ...) \
  check_sparse(KERNEL<false>, KERNEL<true>, __VA_ARGS__)

void check_sparse_types() {
  CHECK_SPARSE(sparse_half_64, 64, kHalf, kHalf, kFloat, 1);
  CHECK_SPARSE(sparse_half_in_half_8, 8, kHalf, kHalf, kHalf, 0);
  CHECK_SPARSE(sparse_bfloat_24, 24, kBFloat, kBFloat, kFloat, 0);
  CHECK_SPARSE(sparse_tfloat_24, 24, kTFloat, kTFloat, kFloat, 1);
  CHECK_SPARSE(sparse_e4m3_e5m2_64, 64, kE4M3, kE5M2, kFloat, 0);
  CHECK_SPARSE(sparse_e5m2_in_half_8, 8, kE5M2, kE5M2, kHalf, 0);
  CHECK_SPARSE(sparse_s8_u8_64, 64, kS8, kU8, kInt, 0);
  CHECK_SPARSE(sparse_u8_256, 256, kU8, kU8, kInt, 0, true);
  check_sparse_across(sparse_half_64<false, 1, 0>, true);
  check_sparse_across(sparse_half_64<false, 0, 1>, false);
}

void check_signs() {
  Case c = halves(half_24<false, 0, 0, -1, 1>, 24);
  c.sign = -1;
  check(c);
  c.kernel = half_24<true, 0, 0, 1, -1>;
  check(in_registers(c));
  c.kernel = half_24<false, 0, 0, -1, -1>;
  c.sign = 1;
  check(c);
  Case eighths{e4m3_64<false, 0, 0, 1, -1>,
               64,
               32,
               kE4M3,
               kE4M3,
               kFloat,
               along_k(k64),
               along_k(k32)};
  eighths.sign = -1;
  check(eighths);
}

// Numbers say whether D is an addend.
__global__ void numbers_kernel(float* out) {
  __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
  for (int i = threadIdx.x; i < 64 * 16; i += kThreads) a[i] = 0x3c00;
  if (threadIdx.x < 8 * 16) b[threadIdx.x] = 0x3c00;
  fence_for_async();
  __syncthreads();
  // Without a swizzle: the next 8 x 8 elements lie 128 bytes further.
  const auto described = [](const void* p) {
    return uint64_t{shared_address(p)} >> 4 | 8ull << 16 | 16ull << 32;
  };
  float d[4] = {5, 5, 5, 5}, e[4] = {5, 5, 5, 5};
  asm volatile(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %8, "
      "%9, 1, 1, 1, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%4, %5, %6, %7}, %8, "
      "%9, 0, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(e[0]), "+f"(e[1]),
        "+f"(e[2]), "+f"(e[3])
      : "l"(described(a)), "l"(described(b))
      : "memory");
  for (int k = 0; k < 4; ++k) out[4 * threadIdx.x + k] = d[k] + 100 * e[k];
}

void check_numbers() {
  expect::each(expect::results<float>(
                   4 * kThreads,
                   [](float* out) { numbers_kernel<<<1, kThreads>>>(out); }),
               [](int) { return 21 + 1600; });
}

}  // namespace

int main() {
  check_layouts();
  check_widths();
  check_types();
  check_sparse_types();
  check_signs();
  check_numbers();
  return expect::report();
}
