// PTX instructions, one after the other, on edge and random operands. A
// program is a table of instructions. It compares with what an H200 answered,
// <program>.h200.txt beside its source, one line an instruction:
//
//   add.rn.f32 f32 9bb1c4a00f5d21e7       a hash of the results' bits
//   add.rn.f32 f32.nan 5c0a61d8ee21f05a   the same of those that are NaN, whose
//                                         payload PTX leaves to the machine
//
// To record such a file, and to find where two machines differ:
//
//   program --hashes            prints those lines instead
//   program add.rn.f32          prints operands and results of one instruction
//   program --bits FILE         writes the bits of all results
//   program --against FILE      names the first results that differ from them
#pragma once

#include <array>
#include <fstream>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "tests/simt/expect.h"

// Operand formats. A word is how a register holds it; 8-bit values travel in
// 32-bit registers, where cvt takes and leaves them.
template <int kBits>
struct Integer {
  static constexpr int bits = kBits;
  static constexpr int exponent = 0;
  static constexpr int mantissa = 0;
};
template <int kExponent, int kMantissa>
struct Float {
  static constexpr int bits = 1 + kExponent + kMantissa;
  static constexpr int exponent = kExponent;
  static constexpr int mantissa = kMantissa;
};

#define FORMAT(NAME, WORD, LANES, ...)         \
  struct NAME : __VA_ARGS__ {                  \
    using Word = WORD;                         \
    static constexpr int lanes = LANES;        \
    static constexpr const char* name = #NAME; \
  };

FORMAT(u8, uint32_t, 1, Integer<8>)
FORMAT(s8, uint32_t, 1, Integer<8>)
FORMAT(u16, uint16_t, 1, Integer<16>)
FORMAT(s16, uint16_t, 1, Integer<16>)
FORMAT(u32, uint32_t, 1, Integer<32>)
FORMAT(s32, uint32_t, 1, Integer<32>)
FORMAT(b32, uint32_t, 1, Integer<32>)
FORMAT(u64, uint64_t, 1, Integer<64>)
FORMAT(s64, uint64_t, 1, Integer<64>)
FORMAT(b64, uint64_t, 1, Integer<64>)
FORMAT(pred, uint32_t, 1, Integer<32>)
FORMAT(f16, uint16_t, 1, Float<5, 10>)
FORMAT(bf16, uint16_t, 1, Float<8, 7>)
FORMAT(f32, uint32_t, 1, Float<8, 23>)
FORMAT(f64, uint64_t, 1, Float<11, 52>)
FORMAT(f16x2, uint32_t, 2, Float<5, 10>)
FORMAT(bf16x2, uint32_t, 2, Float<8, 7>)

// The constraint letter inline assembly wants for each.
#define LETTER_u8 "r"
#define LETTER_s8 "r"
#define LETTER_u16 "h"
#define LETTER_s16 "h"
#define LETTER_u32 "r"
#define LETTER_s32 "r"
#define LETTER_b32 "r"
#define LETTER_u64 "l"
#define LETTER_s64 "l"
#define LETTER_b64 "l"
#define LETTER_pred "r"
#define LETTER_f16 "h"
#define LETTER_bf16 "h"
#define LETTER_f32 "r"
#define LETTER_f64 "l"
#define LETTER_f16x2 "r"
#define LETTER_bf16x2 "r"

// Assembly for the architectures that have the instruction.
#define ASM_75(...) asm(__VA_ARGS__)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define ASM_80(...) asm(__VA_ARGS__)
#else
#define ASM_80(...) __trap()
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define ASM_90(...) asm(__VA_ARGS__)
#else
#define ASM_90(...) __trap()
#endif

// One row of a table: first architecture, result, operands, instruction. C++
// has no other way to paste a type's letter into an assembly string.
#define ROW_(ARCH, NAME, LINE, R, A, B, C, ...)                          \
  struct Row##LINE {                                                     \
    static constexpr const char* name = NAME;                            \
    static constexpr int arch = ARCH;                                    \
    using Result = R;                                                    \
    using Operands = std::tuple<A, B, C>;                                \
    static __device__ uint64_t run(uint64_t x, uint64_t y, uint64_t z) { \
      const auto a = static_cast<A::Word>(x);                            \
      const auto b = static_cast<B::Word>(y);                            \
      const auto c = static_cast<C::Word>(z);                            \
      R::Word result = 0;                                                \
      (void)a, (void)b, (void)c;                                         \
      __VA_ARGS__;                                                       \
      return result;                                                     \
    }                                                                    \
  };                                                                     \
  const arithmetic::Entry<Row##LINE> entry##LINE;
#define ROW(ARCH, NAME, LINE, R, A, B, C, ...) \
  ROW_(ARCH, NAME, LINE, R, A, B, C, __VA_ARGS__)

#define UNARY(ARCH, R, A, TEXT)               \
  ROW(ARCH, TEXT, __LINE__, R, A, None, None, \
      ASM_##ARCH(TEXT " %0, %1;"              \
                 : "=" LETTER_##R(result)     \
                 : LETTER_##A(a)))
#define BINARY(ARCH, R, A, B, TEXT)        \
  ROW(ARCH, TEXT, __LINE__, R, A, B, None, \
      ASM_##ARCH(TEXT " %0, %1, %2;"       \
                 : "=" LETTER_##R(result)  \
                 : LETTER_##A(a), LETTER_##B(b)))
#define TERNARY(ARCH, R, A, B, C, TEXT)   \
  ROW(ARCH, TEXT, __LINE__, R, A, B, C,   \
      ASM_##ARCH(TEXT " %0, %1, %2, %3;"  \
                 : "=" LETTER_##R(result) \
                 : LETTER_##A(a), LETTER_##B(b), LETTER_##C(c)))
// A comparison: 1 or 0.
#define COMPARE(ARCH, A, TEXT)                                               \
  ROW(ARCH, TEXT, __LINE__, pred, A, A, None,                                \
      ASM_##ARCH("{.reg .pred p; " TEXT " p, %1, %2; selp.u32 %0, 1, 0, p;}" \
                 : "=r"(result)                                              \
                 : LETTER_##A(a), LETTER_##A(b)))
// A name and statements that set `result` from `a`, `b` and `c`.
#define CODE(NAME, R, A, B, C, ...) \
  ROW(75, NAME, __LINE__, R, A, B, C, __VA_ARGS__)

struct None : Integer<32> {
  using Word = uint32_t;
  static constexpr int lanes = 0;
  static constexpr const char* name = "";
};

namespace arithmetic {

using Words = std::vector<uint64_t>;

// splitmix64: the same operands on every machine.
class Random {
 public:
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_ = 2026;
};

// What the generators need to know of a format.
struct Shape {
  int bits, exponent, mantissa, lanes;
  uint64_t mask() const { return bits == 64 ? ~0ull : (1ull << bits) - 1; }
  uint64_t bias() const { return (1ull << (exponent - 1)) - 1; }
  uint64_t top() const { return (1ull << exponent) - 1; }
  uint64_t field(uint64_t sign, uint64_t power, uint64_t fraction) const {
    const uint64_t kept = fraction & ((1ull << mantissa) - 1);
    return (sign & 1) << (bits - 1) | (power & top()) << mantissa | kept;
  }
};

// A row that was run.
struct Instruction {
  std::string name;
  std::string type;
  Shape shape;
  std::vector<Words> operands;
  Words results;
};

// A row of the table without its types: they would cost the compiler half a
// minute.
struct Planned {
  const char* name;
  int arch;
  const char* type;
  Shape result;
  std::array<Shape, 3> operands;
  void (*kernel)(const uint64_t* operands, uint64_t* results, int n);
};

inline std::vector<Planned>& table() {
  static std::vector<Planned> rows;
  return rows;
}

[[gnu::noinline]] inline void add(const Planned& row) {
  table().push_back(row);
}

template <typename Row>
__global__ void row_kernel(const uint64_t* operands, uint64_t* results, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    results[i] = Row::run(operands[i], operands[n + i], operands[2 * n + i]);
  }
}

template <typename F>
constexpr Shape shape_of() {
  return {F::bits, F::exponent, F::mantissa, F::lanes};
}

template <typename Row>
struct Entry {
  template <int kOperand>
  using Operand = std::tuple_element_t<kOperand, typename Row::Operands>;

  static constexpr Planned row = {
      Row::name,
      Row::arch,
      Row::Result::name,
      shape_of<typename Row::Result>(),
      {shape_of<Operand<0>>(), shape_of<Operand<1>>(), shape_of<Operand<2>>()},
      row_kernel<Row>};

  Entry() { add(row); }
};

inline Words float_edges(const Shape& f, bool few) {
  const uint64_t one = f.bias();
  const uint64_t ones = (1ull << f.mantissa) - 1;
  const uint64_t half = 1ull << (f.mantissa - 1);
  Words edges = {f.field(0, 0, 0),       f.field(0, 0, 1),
                 f.field(0, 1, 0),       f.field(0, one, 0),
                 f.field(0, one, 1),     f.field(0, f.top() - 1, ones),
                 f.field(0, f.top(), 0), f.field(0, f.top(), half | 5)};
  if (!few) {
    const Words more = {
        f.field(0, 0, ones),        f.field(0, 0, half),
        f.field(0, 1, 1),           f.field(0, one - 1, ones),
        f.field(0, one - 1, 0),     f.field(0, one - 2, ones),
        f.field(0, one, half),      f.field(0, one + 1, half / 2),
        f.field(0, one + 1, half),  f.field(0, one + 7, 0),
        f.field(0, one + 6, ones),  f.field(0, one + 15, 0),
        f.field(0, one + 14, ones), f.field(0, f.top() - 1, 0),
        f.field(0, f.top(), half),  f.field(0, f.top(), ones),
        f.field(0, f.top(), 1),     f.field(0, f.top(), half - 1)};
    edges.insert(edges.end(), more.begin(), more.end());
    for (uint64_t power : {8, 16, 31, 32, 63, 64}) {
      if (one + power >= f.top()) continue;
      edges.push_back(f.field(0, one + power, 0));
      edges.push_back(f.field(0, one + power - 1, ones));
    }
  }
  const size_t positive = edges.size();
  for (size_t i = 0; i < positive; ++i) {
    edges.push_back(edges[i] | 1ull << (f.bits - 1));
  }
  return edges;
}

inline Words integer_edges(const Shape& f, bool few) {
  Words edges = {0,
                 1,
                 2,
                 7,
                 f.mask(),
                 f.mask() - 1,
                 f.mask() >> 1,
                 (f.mask() >> 1) + 1,
                 0x5555555555555555,
                 31,
                 32,
                 255};
  if (!few) {
    for (uint64_t value :
         {3,   5,   8,   10,  15,  16,  17,  24,  33,    63,    64,    65,
          100, 127, 128, 256, 257, 640, 641, 127, 32767, 32768, 65535, 65536}) {
      edges.push_back(value);
      edges.push_back(~value);
    }
    edges.push_back(0xaaaaaaaaaaaaaaaa);
    edges.push_back(0x0123456789abcdef);
    edges.push_back(0x8000000080000000);
    edges.push_back(0x7fffffff);
    edges.push_back(0x80000000);
    edges.push_back(0xffffffff);
    edges.push_back(0x100000000);
  }
  for (uint64_t& edge : edges) edge &= f.mask();
  return edges;
}

inline Words edges_of(const Shape& f, bool few) {
  return f.exponent > 0 ? float_edges(f, few) : integer_edges(f, few);
}

// A value of moderate size: near one, or of any number of bits.
inline uint64_t moderate(const Shape& f, Random& random, int spread) {
  if (f.exponent == 0) {
    const uint64_t value = (random() & f.mask()) >> random() % f.bits;
    return (random() & 1 ? value : ~value + 1) & f.mask();
  }
  const uint64_t power = f.bias() - spread + random() % (2 * spread + 1);
  return f.field(random(), power, random());
}

// The third operand that leaves a * b + c close to zero.
inline uint64_t cancelling(const Shape& f, uint64_t a, uint64_t b,
                           Random& random) {
  const uint64_t power = (a >> f.mantissa & f.top()) +
                         (b >> f.mantissa & f.top()) - f.bias() + random() % 3;
  const uint64_t sign = (a ^ b) >> (f.bits - 1) & 1;
  return f.field(sign ^ 1, power, random());
}

using Row3 = std::array<uint64_t, 3>;

// One lane's operands: every combination of edges, then random ones.
inline std::vector<Row3> combinations(const std::array<Shape, 3>& shapes,
                                      int arity) {
  std::vector<Row3> rows;
  if (arity == 1) {
    const Shape& f = shapes[0];
    if (f.bits <= 16) {
      for (uint64_t i = 0; i <= f.mask(); ++i) rows.push_back({i, 0, 0});
      return rows;
    }
    for (uint64_t a : edges_of(f, false)) rows.push_back({a, 0, 0});
  } else if (arity == 2) {
    const Words second = edges_of(shapes[1], false);
    for (uint64_t a : edges_of(shapes[0], false)) {
      for (uint64_t b : second) rows.push_back({a, b, 0});
    }
  } else {
    const Words second = edges_of(shapes[1], true);
    const Words third = edges_of(shapes[2], true);
    for (uint64_t a : edges_of(shapes[0], true)) {
      for (uint64_t b : second) {
        for (uint64_t c : third) rows.push_back({a, b, c});
      }
    }
  }
  Random random;
  for (int i = 0; i < 1500; ++i) {
    rows.push_back({random() & shapes[0].mask(), random() & shapes[1].mask(),
                    random() & shapes[2].mask()});
  }
  for (int i = 0; i < 1500; ++i) {
    const int spread = arity == 1 ? std::min<int>(70, shapes[0].bias() - 1) : 6;
    Row3 row = {};
    for (int k = 0; k < arity; ++k) {
      row[k] = moderate(shapes[k], random, spread);
    }
    const Shape& f = shapes[0];
    const bool fused = arity == 3 && f.exponent > 0 &&
                       shapes[2].bits == f.bits &&
                       shapes[2].exponent == f.exponent;
    if (fused && i % 2 == 0) row[2] = cancelling(f, row[0], row[1], random);
    rows.push_back(row);
  }
  return rows;
}

inline Instruction run_row(const Planned& row) {
  const auto& shapes = row.operands;
  const int arity = 1 + (shapes[1].lanes > 0) + (shapes[2].lanes > 0);
  const std::vector<Row3> rows = combinations(shapes, arity);
  const size_t n = rows.size();
  Instruction it{row.name, row.type, row.result, {}, Words(n)};
  it.operands.assign(arity, Words(n));
  Words flat(3 * n);
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < arity; ++k) {
      uint64_t value = rows[i][k];
      // The upper half of a pair takes the operands of another row.
      if (shapes[k].lanes == 2) value |= rows[(i * 40503 + 77) % n][k] << 16;
      it.operands[k][i] = flat[k * n + i] = value;
    }
  }
  const expect::Copy<uint64_t> operands(flat);
  it.results = expect::results<uint64_t>(n, [&](uint64_t* results) {
    row.kernel<<<(n + 127) / 128, 128>>>(operands, results, n);
  });
  return it;
}

inline bool is_nan(const Instruction& it, uint64_t bits) {
  if (it.shape.exponent == 0) return false;
  const uint64_t infinity = ((1ull << it.shape.exponent) - 1)
                            << it.shape.mantissa;
  const uint64_t magnitude = bits & ((1ull << (it.shape.bits - 1)) - 1);
  return magnitude > infinity;
}

// FNV-1a over 64-bit words.
class Hash {
 public:
  void add(uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ = (state_ ^ (word >> 8 * byte & 255)) * 0x100000001b3;
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

// "add.rn.f32 f32" -> hash.
using Hashes = std::vector<std::pair<std::string, std::string>>;

inline std::string hex(uint64_t value) {
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << value;
  return text.str();
}

inline void hash_results(const Instruction& it, Hashes& hashes) {
  Hash numbers, nans;
  bool any_nan = false;
  const uint64_t lane_mask =
      it.shape.bits == 64 ? ~0ull : (1ull << it.shape.bits) - 1;
  for (size_t i = 0; i < it.results.size(); ++i) {
    for (int lane = 0; lane < it.shape.lanes; ++lane) {
      const uint64_t bits =
          it.shape.lanes == 1
              ? it.results[i]
              : it.results[i] >> lane * it.shape.bits & lane_mask;
      const bool nan = is_nan(it, bits);
      numbers.add(nan ? ~0ull : bits);
      any_nan |= nan;
      if (nan) nans.add(i), nans.add(bits);
    }
  }
  const std::string name = it.name + ' ' + it.type;
  hashes.emplace_back(name, hex(numbers.value()));
  if (any_nan) hashes.emplace_back(name + ".nan", hex(nans.value()));
}

// Each line of the recorded file is a check, and so is each line too many.
inline int compare(const Hashes& hashes, const std::string& source,
                   const std::set<std::string>& left_out) {
  const std::string path = source.substr(0, source.rfind('.')) + ".h200.txt";
  std::ifstream file(path);
  std::map<std::string, std::string> recorded;
  for (std::string name, type, hash; file >> name >> type >> hash;) {
    if (!left_out.contains(name)) recorded[name + ' ' + type] = hash;
  }
  if (recorded.empty()) {
    std::cout << path << ": no recorded results. Run from the repository's "
              << "root; tests/simt/record.sh records them on a GPU.\n"
              << "0 passed, 1 failed\n";
    return 1;
  }
  if (!left_out.empty()) {
    std::cout << left_out.size() << " instructions that this device does not "
              << "have are left out\n";
  }
  for (const auto& [name, hash] : hashes) {
    const bool same = recorded.contains(name) && recorded[name] == hash;
    expect::count(same);
    if (!same) std::cout << name << ": not the bits of the H200\n";
    recorded.erase(name);
  }
  for (const auto& [name, hash] : recorded) {
    expect::count(false);
    std::cout << name << ": recorded on the H200, not produced here\n";
  }
  return expect::report();
}

inline void print_row(const Instruction& it, size_t i) {
  std::cout << it.name << std::hex;
  for (const Words& operand : it.operands) std::cout << ' ' << operand[i];
  std::cout << " -> " << it.results[i] << std::dec;
}

inline size_t word_bytes(const Instruction& it) {
  return std::max(4, it.shape.bits * it.shape.lanes / 8);
}

inline void write_bits(const Instruction& it, std::ostream& file) {
  for (const uint64_t word : it.results) {
    file.write(reinterpret_cast<const char*>(&word), word_bytes(it));
  }
}

// Compares with the bits of another machine; true when they are the same.
inline bool same_as(const Instruction& it, std::istream& bits) {
  size_t wrong = 0;
  for (size_t i = 0; i < it.results.size(); ++i) {
    uint64_t other = 0;
    bits.read(reinterpret_cast<char*>(&other), word_bytes(it));
    if (!bits) {
      std::cout << it.name << ": the file of bits ends too soon\n";
      return false;
    }
    if (other == it.results[i] || ++wrong > expect::kShown) continue;
    print_row(it, i);
    std::cout << ", expected " << std::hex << other << std::dec << '\n';
  }
  if (wrong > 0) {
    std::cout << it.name << ": " << wrong << " of " << it.results.size()
              << " differ\n";
  }
  return wrong == 0;
}

inline int architecture() {
  int major = 0, minor = 0;
  expect::ok(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  expect::ok(
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return 10 * major + minor;
}

inline void print_all(const Instruction& it) {
  for (size_t i = 0; i < it.results.size(); ++i) {
    print_row(it, i);
    std::cout << '\n';
  }
}

inline int run_table(int argc, char** argv,
                     expect::Where where = expect::Where::current()) {
  const std::string command = argc > 1 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  const bool writing = command == "--bits", reading = command == "--against";
  std::fstream file;
  if (writing) file.open(path, std::ios::out | std::ios::binary);
  if (reading) file.open(path, std::ios::in | std::ios::binary);
  if ((writing || reading) && !file.is_open()) {
    std::cerr << "cannot open '" << path << "'\n";
    return 2;
  }
  const bool hashing = command.empty() || command == "--hashes";
  const int device = architecture();
  Hashes hashes;
  std::set<std::string> left_out;
  bool found = false, same = true;
  for (const auto& row : table()) {
    if (row.arch > device) left_out.insert(row.name);
    if (row.arch > device) continue;
    const bool every = hashing || writing || reading;
    if (!every && command != row.name) continue;
    const Instruction it = run_row(row);
    found = true;
    if (hashing) hash_results(it, hashes);
    if (writing) write_bits(it, file);
    if (reading) same &= same_as(it, file);
    if (!every) print_all(it);
  }
  if (!found) {
    std::cerr << "no instruction is called '" << command << "'\n";
    return 2;
  }
  if (command.empty()) return compare(hashes, where.file_name(), left_out);
  for (const auto& [name, hash] : hashes) {
    std::cout << name << ' ' << hash << '\n';
  }
  return same ? 0 : 1;
}

}  // namespace arithmetic
