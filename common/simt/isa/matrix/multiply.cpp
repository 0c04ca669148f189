// D = A * B + C by the lanes of a warp: mma, mma.sp and wmma.mma.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "common/simt/isa/arithmetic/float.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/isa/matrix/sum.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// The largest matrices have 16 x 64 or 32 x 16 elements, the largest results
// 32 x 8 or 16 x 16.
constexpr int kMostElements = 1024;
constexpr int kMostResults = 256;

// What is undefined among the elements of a matrix: the first such of each row
// or column, or of each element.
class Doubts {
 public:
  enum Of { kRows, kColumns, kElements };
  Doubts(Of of, Warp& warp, const Fragment& f, const Place* registers)
      : of_(of), columns_(f.columns) {
    const Values& values = warp.block->observers.checker->values();
    for (int r = 0; r < f.registers(); ++r)
      if (const Undefined* u = values.undefined(warp, registers[r]))
        for (uint32_t rest = u->lanes; rest; rest &= rest - 1)
          note(f, r, first_lane(rest), *u);
  }
  const Origin* at(int row, int column) const {
    const auto known = found_.find(key(row, column));
    return known == found_.end() ? nullptr : &known->second;
  }

 private:
  int key(int row, int column) const {
    return of_ == kRows      ? row
           : of_ == kColumns ? column
                             : row * columns_ + column;
  }
  void note(const Fragment& f, int r, int lane, const Undefined& u) {
    for (int e = 0; e < f.per_register(); ++e) {
      const uint64_t element = u.bits[lane] >> (e * f.bits() % 64);
      if (!(element & ~0ull >> (64 - f.bits()))) continue;
      const Step at = f.place(lane, r * f.per_register() + e);
      found_.try_emplace(key(at.row, at.column), u.origin[lane]);
    }
  }

  const Of of_;
  const int columns_;
  std::map<int, Origin> found_;
};

// One product that a warp computes.
struct Product {
  Product(Warp& warp, const Instruction& ins, uint32_t mask)
      : warp(warp), matrix(*ins.matrix) {
    require_all_lanes(warp, ins, mask);
    a = ins.sources().data();
    b = a + matrix.a_registers;
    c = b + matrix.b_registers;
    metadata = c[matrix.c.registers()];
    // Results lie backwards in memory.
    for (int k = 0; k < ins.result_count; ++k) d[k] = ins.result(k);
  }

  template <class Bits>
  void finish(const Bits* results) const {
    if (warp.tainted) follow();
    matrix.d.pack(warp, d, results);
  }
  // An element is undefined if its addend is, or a factor of it.
  void follow() const {
    const Matrix& m = matrix;
    const Doubts rows(Doubts::kRows, warp, m.a, a);
    const Doubts columns(Doubts::kColumns, warp, m.b, b);
    const Doubts addends(Doubts::kElements, warp, m.c, c);
    const Undefined* telling =
        m.sparsity
            ? warp.block->observers.checker->values().undefined(warp, metadata)
            : nullptr;
    std::vector<Undefined> results(m.d.registers());
    for (int r = 0; r < m.d.registers(); ++r) {
      results[r].place = d[r];
      results[r].width = static_cast<uint8_t>(m.d.register_bytes());
      for (int l = 0; l < kLanes; ++l)
        for (int e = 0; e < m.d.per_register(); ++e) {
          const Step at = m.d.place(l, r * m.d.per_register() + e);
          const int first = at.row / (m.m / m.products) * m.n;
          const Origin* why = rows.at(at.row, 0);
          if (!why)
            why = columns.at(0, m.products > 1 ? first + at.column : at.column);
          if (!why) why = addends.at(at.row, at.column);
          for (int j = 0; telling && !why && j < m.in_row(); ++j)
            why = telling->origin_of(m.sparsity.telling_lane(at.row, j));
          if (why) doubt(results[r], l, e, *why);
        }
    }
    warp.block->observers.checker->values().replace(warp, results);
  }
  void doubt(Undefined& result, int lane, int element, Origin why) const {
    const int bits = matrix.d.bits();
    why.moved = 0;
    if (!(result.lanes >> lane & 1)) result.origin[lane] = why;
    result.lanes |= 1u << lane;
    result.bits[lane] |= ~0ull >> (64 - bits) << (element * bits % 64);
  }

  Warp& warp;
  const Matrix& matrix;
  const Place *a, *b, *c;
  Place metadata;  // of mma.sp
  Place d[8];
};

ChosenRows chosen_rows(const Product& p) {
  const Matrix& m = p.matrix;
  if (!m.sparsity) return {};
  return {m.sparsity, lanes<uint32_t>(p.warp, p.metadata), m.m};
}

// ---- Floating point ---------------------------------------------------------

void widen_eighths(Number number, uint32_t* bits, int count) {
  for (int k = 0; k < count; ++k)
    bits[k] = number == Number::kE5M2 ? bits[k] << 8 : half_of_e4m3(bits[k]);
}

// A and B as the tensor cores take them, and C as floats.
struct Operands {
  uint32_t a[kMostElements], b[kMostElements], c[kMostResults];

  explicit Operands(const Product& p) {
    const Matrix& m = p.matrix;
    m.a.unpack(p.warp, p.a, a);
    m.b.unpack(p.warp, p.b, b);
    m.c.unpack(p.warp, p.c, c);
    if (m.c.number == Number::kHalf)
      for (int k = 0; k < m.m * m.n; ++k) c[k] = bits_of(Half::widen(c[k]));
  }
};

// All products of an element at once; or so many, and the sum is the addend of
// the next.
void multiply(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  const Operands in(p);
  const ChosenRows chosen = chosen_rows(p);
  const int count = m.in_row();
  const Factors a(m.a.number, in.a, m.m * count);
  uint32_t met[kMostElements];
  std::optional<Factors> b;
  // A result in f16 of an addend in f32 is rounded twice.
  const bool once = m.c.number == Number::kHalf && m.d.number == Number::kHalf;
  uint32_t d[kMostResults];
  for (int i = 0; i < m.m; ++i) {
    if (!b || m.sparsity)
      b.emplace(m.b.number, chosen.met(i, in.b, m.n, met), count * m.n);
    for (int j = 0; j < m.n; j += kColumns) {
      Sums sums;
      uint32_t sum[kColumns];
      const uint32_t* addend = in.c + i * m.n + j;
      for (int k = 0; k < count; k += m.together, addend = sum) {
        add_products(a, i * count + k, *b, k * m.n + j, m.n, m.together, addend,
                     sums);
        if (!once) floats_of_sums(sums, sum);
      }
      for (int l = 0; l < kColumns; ++l)
        d[i * m.n + j + l] = m.d.number == Number::kFloat ? sum[l]
                             : once                       ? half_of_sum(sums, l)
                                    : Half::narrow(float_of(sum[l]));
    }
  }
  p.finish(d);
}

// 8-bit numbers become f16, for Hopper has no other tensor cores for mma: first
// those products are added whose number in the row of A is 0 or 1 modulo 4, to
// those the others, and to that the addend, as any addition does it.
void multiply_eighths(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  Operands in(p);
  const ChosenRows chosen = chosen_rows(p);
  const int count = m.in_row(), half = count / 2;
  widen_eighths(m.a.number, in.a, m.m * count);
  widen_eighths(m.b.number, in.b, m.k * m.n);
  const auto order = [&](int k) {
    return k % 4 / 2 * half + k / 4 * 2 + k % 2;
  };
  uint32_t a_bits[kMostElements], met[kMostElements], b_bits[kMostElements];
  for (int i = 0; i < m.m; ++i)
    for (int k = 0; k < count; ++k)
      a_bits[i * count + order(k)] = in.a[i * count + k];
  const Factors a(Number::kHalf, a_bits, m.m * count);
  std::optional<Factors> b;
  const bool to_half = m.d.number == Number::kHalf;
  uint32_t d[kMostResults];
  for (int i = 0; i < m.m; ++i) {
    if (!b || m.sparsity) {
      const uint32_t* rows = chosen.met(i, in.b, m.n, met);
      for (int k = 0; k < count; ++k)
        std::copy_n(rows + k * m.n, m.n, b_bits + order(k) * m.n);
      b.emplace(Number::kHalf, b_bits, count * m.n);
    }
    for (int j = 0; j < m.n; j += kColumns) {
      uint32_t sum[kColumns] = {};
      for (int first = 0; first < count; first += half) {
        Sums sums;
        add_products(a, i * count + first, *b, first * m.n + j, m.n, half, sum,
                     sums);
        if (!to_half) floats_of_sums(sums, sum);
        for (int l = 0; to_half && l < kColumns; ++l)
          sum[l] = bits_of(Half::widen(half_of_sum(sums, l)));
      }
      for (int l = 0; l < kColumns; ++l) {
        const int at = i * m.n + j + l;
        const float whole = float_of(sum[l]) + float_of(in.c[at]);
        d[at] = to_half ? Half::narrow(whole) : bits_of(canonical(whole));
      }
    }
  }
  p.finish(d);
}

// m8n8k4 with .f16, which Hopper has no tensor cores for: ptxas makes additions
// of it, in another order where the result is a half.
uint32_t quarter_as_float(const float* a, const float* b, float c) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum = std::fma(a[k], b[k], sum);
  return bits_of(canonical(sum + c));
}
uint32_t quarter_as_half(const float* a, const float* b, float c) {
  const float low = std::fma(a[1], b[1], a[0] * b[0]);
  const float high = std::fma(a[3], b[3], a[2] * b[2]);
  return Half::narrow(c + low + high);
}

void multiply_quarters(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  const Operands in(p);
  const int columns = m.n * m.products;
  const auto sum =
      m.d.number == Number::kHalf ? quarter_as_half : quarter_as_float;
  uint32_t d[kMostResults];
  for (int i = 0; i < m.m; ++i)
    for (int j = 0; j < m.n; ++j) {
      const int column = i / (m.m / m.products) * m.n + j;
      float a[4], b[4];
      for (int k = 0; k < 4; ++k) {
        a[k] = Half::widen(in.a[i * m.k + k]);
        b[k] = Half::widen(in.b[k * columns + column]);
      }
      d[i * m.n + j] = sum(a, b, float_of(in.c[i * m.n + j]));
    }
  p.finish(d);
}

void multiply_doubles(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  double a[256], b[128], c[128];
  const auto words = [](double* x) { return reinterpret_cast<uint64_t*>(x); };
  m.a.unpack(warp, p.a, words(a));
  m.b.unpack(warp, p.b, words(b));
  m.c.unpack(warp, p.c, words(c));
  for (int i = 0; i < m.m; ++i)
    for (int k = 0; k < m.k; ++k)
      for (int j = 0; j < m.n; ++j) {
        double& sum = c[i * m.n + j];
        const double left = a[i * m.k + k], right = b[k * m.n + j];
        sum = first_nan(std::fma(left, right, sum), right, sum, left);
      }
  p.finish(words(c));
}

// ---- Whole numbers ----------------------------------------------------------

void multiply_wholes(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  uint32_t a[kMostElements], b[kMostElements], c[kMostResults];
  m.a.unpack(warp, p.a, a);
  m.b.unpack(warp, p.b, b);
  m.c.unpack(warp, p.c, c);
  const ChosenRows chosen = chosen_rows(p);
  int32_t factor[kMostElements];
  for (int k = 0; k < m.k * m.n; ++k) factor[k] = whole(m.b.number, b[k]);
  for (int i = 0; i < m.m; ++i) {
    int32_t sum[32] = {};
    for (int k = 0; k < m.in_row(); ++k) {
      const int32_t left = whole(m.a.number, a[i * m.in_row() + k]);
      const int32_t* right = factor + chosen.row_of_b(i, k) * m.n;
      for (int j = 0; j < m.n; ++j) sum[j] += left * right[j];
    }
    for (int j = 0; j < m.n; ++j) {
      const int64_t exact =
          int64_t{static_cast<int32_t>(c[i * m.n + j])} + sum[j];
      c[i * m.n + j] = static_cast<uint32_t>(
          m.saturates ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                      : exact);
    }
  }
  p.finish(c);
}

void multiply_bits(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Product p(warp, ins, mask);
  const Matrix& m = p.matrix;
  uint32_t a[kMostElements], b[kMostElements], c[kMostResults];
  m.a.unpack(warp, p.a, a);
  m.b.unpack(warp, p.b, b);
  m.c.unpack(warp, p.c, c);
  for (int i = 0; i < m.m; ++i)
    for (int j = 0; j < m.n; ++j)
      for (int k = 0; k < m.k; ++k) {
        const uint32_t left = a[i * m.k + k], right = b[k * m.n + j];
        c[i * m.n + j] +=
            std::popcount(m.exclusive ? left ^ right : left & right);
      }
  p.finish(c);
}

// ---- Decoding ---------------------------------------------------------------

// D's, A's, B's and C's. wmma leaves out those of A and B where they are f16.
std::array<Number, 4> numbers_of(const Statement& s) {
  std::vector<Number> found;
  for (const std::string& part : s.op)
    if (is_number(part)) found.push_back(number_of(part));
  if (found.size() == 2)
    return {found[0], Number::kHalf, Number::kHalf, found[1]};
  return {found.at(0), found.at(1), found.at(2), found.at(3)};
}

bool is_whole(Number number) {
  return number == Number::kSigned8 || number == Number::kUnsigned8 ||
         number == Number::kSigned4 || number == Number::kUnsigned4;
}

Handler handler_for(const Matrix& matrix) {
  const Number number = matrix.a.number;
  if (matrix.products > 1) return multiply_quarters;
  if (number == Number::kDouble) return rounded<multiply_doubles>;
  if (number == Number::kBits) return multiply_bits;
  if (is_whole(number)) return multiply_wholes;
  return number == Number::kE4M3 || number == Number::kE5M2 ? multiply_eighths
                                                            : multiply;
}

}  // namespace

Handler product_handler(const Statement& s, Matrix& matrix) {
  for (const std::string& part : s.op)
    if (std::sscanf(part.c_str(), "m%dn%dk%d", &matrix.m, &matrix.n,
                    &matrix.k) == 3)
      break;
  const auto [d, a, b, c] = numbers_of(s);
  if (a == Number::kBits) matrix.k /= 32;
  const int m = matrix.m, n = matrix.n, k = matrix.k;
  if (s.name() == "mma" && a == Number::kHalf && k == 4) {
    const auto layout = std::find_if(s.op.begin(), s.op.end(), [](auto& part) {
      return part == "row" || part == "col";
    });
    matrix.products = 4;
    matrix.m *= matrix.products;
    matrix.a = quarters_a(layout[0] == "col");
    matrix.b = quarters_b(layout[1] == "col");
    matrix.c = quarters_c(c);
    matrix.d = quarters_c(d);
  } else {
    if (is_sparse(s)) {
      matrix.sparsity = {bits_of(a), k / 2};
      matrix.sparsity.choose(std::stoi(s.operands.back().text));
    }
    matrix.a = product_fragment('a', a, m, n, matrix.in_row());
    matrix.b = product_fragment('b', b, m, n, k);
    matrix.c = product_fragment('c', c, m, n, k);
    matrix.d = product_fragment('d', d, m, n, k);
  }
  matrix.together =
      s.name() == "wmma" && a == Number::kTFloat ? 4 : matrix.in_row();
  matrix.a_registers = s.operands.at(1).list.size();
  matrix.b_registers = s.operands.at(2).list.size();
  matrix.saturates = s.has("satfinite");
  matrix.exclusive = s.has("xor");
  return handler_for(matrix);
}

}  // namespace simt
