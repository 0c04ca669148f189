// What the elementwise engine of chapter 13 must do, beside a reference on the
// host that takes one element after the other.
#include <array>
#include <tuple>
#include <utility>

#include "chapters/13_elementwise/path.h"
#include "tests/any_elementwise/any_elementwise.h"
#include "tests/contract.h"
#include "tests/sixteen_bits.h"

namespace {

using namespace contract;

// ---- Numbers ----------------------------------------------------------------

std::mt19937_64& bits() {
  static std::mt19937_64 generator(seed() + 13);
  return generator;
}
int64_t up_to(int64_t most) { return bits()() % (most + 1); }

template <class T>
T of_bits(uint64_t from) {
  T v;
  std::memcpy(static_cast<void*>(&v), &from, sizeof v);
  return v;
}
template <class T>
T of_bytes(unsigned char byte) {
  T v;
  std::memset(static_cast<void*>(&v), byte, sizeof v);
  return v;
}
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
constexpr bool kIsFraction =
    std::is_same_v<T, Half> || std::is_same_v<T, Brain> ||
    std::is_floating_point_v<T>;

// To the nearest number with so many binary digits, or to the even one of two.
long double nearest(long double v, int digits, int least_exponent,
                    long double most) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int exponent = std::max(std::ilogb(v), least_exponent) - digits + 1;
  const long double near =
      std::ldexp(std::nearbyint(std::ldexp(v, -exponent)), exponent);
  return std::fabs(near) > most ? std::copysign(INFINITY, v) : near;
}
template <class T>
long double rounded(long double v) {
  if constexpr (std::is_same_v<T, Half>)
    return nearest(v, 11, -14, 65504);
  else if constexpr (std::is_same_v<T, Brain>)
    return nearest(v, 8, -126, 0x1.fep127L);
  else
    return static_cast<T>(v);
}

// How far it is to the next number of that type.
template <class T>
long double step_at(long double v) {
  const auto [digits, least] = std::is_same_v<T, Half>    ? std::pair{11, -14}
                               : std::is_same_v<T, Brain> ? std::pair{8, -126}
                                                          : std::pair{24, -126};
  const int exponent = v == 0 ? least : std::max(std::ilogb(v), least);
  return std::ldexp(1.0L, exponent - digits + 1);
}

template <class T>
T random_element() {
  const float v = static_cast<float>(up_to(4000) - 2000) / 256;
  if constexpr (std::is_same_v<T, Half>)
    return __float2half(v);
  else if constexpr (std::is_same_v<T, Brain>)
    return __float2bfloat16(v);
  else if constexpr (std::is_same_v<T, float3>)
    return {v, v + 1, v + 2};
  else if constexpr (std::is_same_v<T, double2>)
    return {v, v + 1};
  else if constexpr (std::is_floating_point_v<T>)
    return v;
  else
    return static_cast<T>(up_to(15));
}
template <class T>
std::vector<T> random_elements(int64_t n) {
  std::vector<T> values(n);
  for (T& v : values) v = random_element<T>();
  return values;
}

std::string shown(const unsigned char* bytes, size_t count) {
  std::string line = "0x";
  for (size_t b = count; b-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[b]);
    line += digits;
  }
  return line;
}
template <class T>
std::string shown(const T& v) {
  return shown(reinterpret_cast<const unsigned char*>(&v), sizeof v);
}

// ---- Calls ------------------------------------------------------------------

// So many elements past a 256-byte line, the result first.
using Offsets = std::vector<int64_t>;

std::string text(const std::string& what, int64_t n, const Offsets& offsets) {
  std::string line = what + ", n = " + std::to_string(n) + ", offsets";
  for (const int64_t o : offsets) line += " " + std::to_string(o);
  return line;
}

elementwise::Path path_of(const AnyElementwise& asked) {
  int64_t path[5];
  any_elementwise_path(&asked, path);
  return {static_cast<int>(path[0]), path[1], path[2], path[3], path[4] != 0};
}

// The widest packs, tried out: some head brings all arrays to an address that
// is a multiple of theirs. Instead of accesses of less than four bytes, packs
// that fit the result alone, if all are whole words.
elementwise::Path best_path(int pack, int64_t n, const Offsets& offsets,
                            const std::vector<int>& bytes) {
  const auto fit = [&](int width, size_t arrays) {
    int64_t head = 0;
    while (head < width &&
           std::any_of(offsets.begin(), offsets.begin() + arrays,
                       [&](int64_t o) { return (o + head) % width != 0; }))
      ++head;
    return head;
  };
  int width = pack;
  while (fit(width, offsets.size()) == width) width /= 2;
  const int least = *std::min_element(bytes.begin(), bytes.end());
  if (width == pack || width * least >= 4 || pack * least < 4) {
    const int64_t head = std::min(fit(width, offsets.size()), n);
    return {width, head, (n - head) / width, 0};
  }
  // Two packs are read of an operand, and both are its own.
  const int64_t head = std::min(fit(pack, 1) + pack, n);
  return {pack, head, std::max<int64_t>(n - head - pack, 0) / pack, 0, true};
}

constexpr unsigned char kGuardByte = 0xa5, kStrayByte = 0x5a;

// Many calls of one function, side by side in memory that is watched.
template <class R, class... A>
class Calls {
 public:
  using F = R (*)(A...);

  Calls(std::string what, F f)
      : what_(std::move(what)), f_(f), r_(of_bytes<R>(kGuardByte)) {}

  void add(int64_t n, const Offsets& offsets) {
    add_of(n, offsets, {random_elements<A>(n)...});
  }
  void add_of(int64_t n, const Offsets& offsets,
              const std::tuple<std::vector<A>...>& values) {
    each([&](auto k) {
      begins_.push_back(
          std::get<k>(a_).add(std::get<k>(values), offsets[k + 1]));
    });
    r_.add(expected(n, values), offsets[0]);
    asked_.push_back({n, offsets, -1});
  }
  // Operand `same` is the result's array.
  template <int same>
  void add_in_place(int64_t n, const Offsets& offsets) {
    const std::tuple<std::vector<A>...> values{random_elements<A>(n)...};
    each([&](auto k) {
      begins_.push_back(
          std::get<k>(a_).add(std::get<k>(values), offsets[k + 1]));
    });
    r_.add(expected(n, values), std::get<same>(values), offsets[0]);
    asked_.push_back({n, offsets, same});
  }

  // Results may be off by so much of their size.
  void allow(long double relative) { relative_ = relative; }

  // Launches all, and says what is wrong with each.
  void check(int pack) {
    r_.upload();
    each([&](auto k) { std::get<k>(a_).upload(); });
    for (size_t c = 0; c < asked_.size(); ++c) {
      const AnyElementwise call = call_of(c);
      if (const char* error = any_elementwise(&call, nullptr))
        FAIL(name(c), ": refused: ", error);
      check_path(c, call, pack);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto wrong = r_.differences(
        "r", [&](const R& a, const R& b) { return same(a, b); }, shown<R>);
    for (size_t c = 0; c < wrong.size(); ++c)
      if (!wrong[c].empty()) FAIL_CHECK(name(c), ": ", wrong[c]);
    each([&](auto k) {
      CHECK_MESSAGE(std::get<k>(a_).unchanged(), what_, " changed an operand");
    });
  }

 private:
  struct Asked {
    int64_t n;
    Offsets offsets;
    int in_place;  // The operand that is the result's array, or -1.
  };

  static constexpr size_t kOperands = sizeof...(A);

  template <class Do>
  static void each(Do f) {
    [&]<size_t... k>(std::index_sequence<k...>) {
      (f(std::integral_constant<size_t, k>{}), ...);
    }
    (std::make_index_sequence<kOperands>{});
  }

  bool same(const R& expected, const R& got) const {
    if constexpr (kIsFraction<R>) {
      const long double a = number(expected), b = number(got);
      if (std::isnan(a)) return std::isnan(b);
      if (relative_ > 0) return std::fabs(a - b) <= relative_ * std::fabs(a);
    }
    return same_bits(expected, got);
  }

  std::vector<R> expected(int64_t n,
                          const std::tuple<std::vector<A>...>& values) const {
    std::vector<R> r(n);
    for (int64_t i = 0; i < n; ++i)
      r[i] = std::apply([&](const auto&... v) { return f_(v[i]...); }, values);
    return r;
  }

  AnyElementwise call_of(size_t c) const {
    AnyElementwise call{what_.c_str(), 3, nullptr, asked_[c].n, {}, {}};
    call.results[0] = r_.at(c);
    each([&](auto k) {
      call.operands[k] = static_cast<int>(k) == asked_[c].in_place
                             ? static_cast<const void*>(r_.at(c))
                             : std::get<k>(a_).at(begins_[c * kOperands + k]);
    });
    return call;
  }

  std::string name(size_t c) const {
    const Asked& asked = asked_[c];
    return text(what_, asked.n, asked.offsets) +
           (asked.in_place < 0 ? "" : ", in place");
  }

  void check_path(size_t c, const AnyElementwise& call, int pack) const {
    const Asked& asked = asked_[c];
    Offsets offsets = asked.offsets;
    if (asked.in_place >= 0) offsets[asked.in_place + 1] = offsets[0];
    const elementwise::Path best =
        best_path(pack, asked.n, offsets, {sizeof(R), sizeof(A)...});
    const elementwise::Path path = path_of(call);
    if (path.width == best.width && path.head == best.head &&
        path.packs == best.packs && path.shifted == best.shifted)
      return;
    FAIL_CHECK(name(c), ": packs of ", path.width, " behind ", path.head,
               ", and best are ", best.width, " behind ", best.head);
  }

  const std::string what_;
  const F f_;
  long double relative_ = 0;
  Outputs<R> r_;
  std::tuple<Inputs<A>...> a_{Inputs<A>(of_bytes<A>(kStrayByte))...};
  std::vector<int64_t> begins_;
  std::vector<Asked> asked_;
};

// ---- Functions --------------------------------------------------------------

template <class T>
T made(long double v) {
  if constexpr (std::is_same_v<T, Half>)
    return __float2half(static_cast<float>(v));  // Exact: v is a half.
  else if constexpr (std::is_same_v<T, Brain>)
    return __float2bfloat16(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

template <class T>
T relu(T x) {
  return number(x) <= 0 ? made<T>(0) : x;
}
template <class T>
T add(T a, T b) {
  return made<T>(rounded<T>(number(a) + number(b)));
}
template <class T>
T scaled_by_3(T x) {
  return made<T>(rounded<T>(3 * number(x)));
}
float mixed(Half a, int8_t b) { return __half2float(a) + b; }
float3 turned(float3 x) { return {x.y, x.z, x.x}; }
double2 swapped(double2 x) { return {x.y, x.x}; }

// What is tried with each of them: a function of calls and their widest pack.
template <class Try>
void with_every_kind(Try f) {
  const auto one = [&]<class R, class... A>(const char* what, R (*g)(A...),
                                            int pack) {
    Calls<R, A...> calls(what, g);
    f(calls, static_cast<int64_t>(sizeof...(A)));
    calls.check(pack);
  };
  one("relu float", relu<float>, 4);
  one("relu half", relu<Half>, 8);
  one("relu bfloat16", relu<Brain>, 8);
  one("relu double", relu<double>, 2);
  one("relu int8", relu<int8_t>, 8);
  one("scale int64", scaled_by_3<int64_t>, 2);
  one("add float", add<float>, 4);
  one("add half", add<Half>, 8);
  one("mixed", mixed, 4);
  one("turn float3", turned, 1);
  one("swap double2", swapped, 1);
}

}  // namespace

TEST_CASE("elementwise handles every length") {
  with_every_kind([](auto& calls, int64_t operands) {
    for (int64_t n = 0; n <= 40; ++n) calls.add(n, Offsets(operands + 1, 0));
    for (const int64_t n : lengths({255, 256, 257, 1026, 2049, 4099}))
      calls.add(n, Offsets(operands + 1, 0));
  });
}

TEST_CASE("elementwise handles every offset, the same in all arrays") {
  with_every_kind([](auto& calls, int64_t operands) {
    for (int64_t offset = 0; offset < 16; ++offset) {
      for (int64_t n = 0; n <= 17; ++n)
        calls.add(n, Offsets(operands + 1, offset));
      calls.add(1026, Offsets(operands + 1, offset));
    }
  });
}

TEST_CASE("elementwise handles every offset, others in each array") {
  with_every_kind([](auto& calls, int64_t operands) {
    for (int64_t offset = 0; offset < 16; ++offset) {
      for (int64_t other = 0; other < 16; ++other) {
        Offsets offsets(operands + 1, offset);
        offsets.back() = other;
        calls.add(other % 2 ? 1100 : 18, offsets);
      }
    }
  });
}

TEST_CASE("elementwise handles random lengths and offsets") {
  MESSAGE("CHECK_SEED=" << seed());
  with_every_kind([](auto& calls, int64_t operands) {
    for (int round = 0; round < 12; ++round) {
      Offsets offsets(operands + 1);
      for (int64_t& o : offsets) o = up_to(15);
      calls.add(up_to(9000), offsets);
    }
  });
}

TEST_CASE("elementwise handles long arrays") {
  Calls<float, float, float> floats("add float", add<float>);
  Calls<Half, Half> halves("relu half", relu<Half>);
  for (const int64_t offset : {0, 1}) {
    floats.add((1 << 20) + 3, {offset, offset, offset});
    halves.add((1 << 20) + 3, {offset, offset});
  }
  floats.add((1 << 18) + 3, {0, 1, 2});
  halves.add((1 << 18) + 3, {1, 0});
  floats.check(4);
  halves.check(8);
}

TEST_CASE("elementwise works in place") {
  const auto unary = [](auto& calls) {
    for (int64_t offset = 0; offset < 9; ++offset)
      for (const int64_t n : {1, 16, 17, 3001})
        calls.template add_in_place<0>(n, {offset, 0});
  };
  Calls<float, float> floats("relu float", relu<float>);
  Calls<Half, Half> halves("relu half", relu<Half>);
  Calls<int64_t, int64_t> longs("scale int64", scaled_by_3<int64_t>);
  unary(floats);
  unary(halves);
  unary(longs);
  floats.check(4);
  halves.check(8);
  longs.check(2);

  Calls<float, float, float> sums("add float", add<float>);
  for (int64_t offset = 0; offset < 5; ++offset) {
    sums.add_in_place<0>(1026, {offset, 0, 1});
    sums.add_in_place<1>(1026, {offset, 2, 0});
  }
  sums.check(4);

  // The other operand's packs begin elsewhere, and are cut out of two.
  Calls<Half, Half, Half> half_sums("add half", add<Half>);
  for (int64_t offset = 0; offset < 9; ++offset) {
    half_sums.add_in_place<0>(5000, {offset, 0, 1});
    half_sums.add_in_place<1>(5000, {offset, 6, 0});
  }
  half_sums.check(8);
}

// ---- Special numbers --------------------------------------------------------

namespace {

// All there are of a type of 16 bits or fewer.
template <class T>
std::vector<T> all_of() {
  std::vector<T> values;
  if constexpr (std::is_same_v<T, bool>) {
    return {};  // Nobody can take a reference to one.
  } else {
    for (int b = 0; b < 1 << 8 * sizeof(T); ++b)
      values.push_back(of_bits<T>(b));
    return values;
  }
}

// r[i] = what(x[i]), of an array that begins at x_offset to one at r_offset.
template <class R, class A>
std::vector<R> applied(const std::string& what, const std::vector<A>& values,
                       int64_t r_offset = 0, int64_t x_offset = 0) {
  Inputs<A> x(of_bytes<A>(kStrayByte));
  Outputs<R> r(of_bytes<R>(kGuardByte));
  const int64_t begin = x.add(values, x_offset);
  r.add(std::vector<R>(values.size()), r_offset);
  x.upload();
  r.upload();
  const AnyElementwise call{what.c_str(),
                            3,
                            nullptr,
                            static_cast<int64_t>(values.size()),
                            {r.at(0), nullptr},
                            {x.at(begin), nullptr, nullptr}};
  const char* error = any_elementwise(&call, nullptr);
  REQUIRE_MESSAGE(!error, what, ": ", error);
  std::vector<R> results(values.size());
  CUDA_CHECK(cudaMemcpy(static_cast<void*>(results.data()), r.at(0),
                        results.size() * sizeof(R), cudaMemcpyDeviceToHost));
  return results;
}

template <class T>
void check_relu_of_all(const char* what) {
  const std::vector<T> x = all_of<T>();
  const std::vector<T> y = applied<T>(what, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool right = std::isnan(number(x[i])) ? std::isnan(number(y[i]))
                                                : same_bits(y[i], relu(x[i]));
    if (!right) FAIL(what, " of ", shown(x[i]), " is ", shown(y[i]));
  }
}

using Real = long double;
Real gelu_exact(Real x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
Real twice_u(Real x) {
  return std::sqrt(8 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
}
Real gelu_tanh(Real x) { return x / (1 + std::exp(-twice_u(x))); }
Real gelu_quick(Real x) { return x / (1 + std::exp(-1.702L * x)); }

struct Gelu {
  const char* name;
  Real (*of)(Real);
};
const Gelu kGelus[] = {{"gelu_exact", gelu_exact},
                       {"gelu_tanh", gelu_tanh},
                       {"gelu_quick", gelu_quick}};

// Less than this may be taken for 0: a sum with an exponential is infinite.
constexpr Real kLeastGelu = 0x1p-122L;

// The worst of all finite numbers of a type, in steps of the result; where it
// is below the least normal one, these steps stay as they are there.
template <class T>
double worst_gelu(const Gelu& gelu, const std::string& type) {
  const std::string what = std::string(gelu.name) + " " + type;
  const std::vector<T> x = all_of<T>();
  const std::vector<T> y = applied<T>(what, x);
  Real worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Real v = number(x[i]), got = number(y[i]);
    if (std::isnan(v)) {
      CHECK_MESSAGE(std::isnan(got), what, " of NaN is ", double(got));
    } else if (std::isinf(v)) {
      CHECK_MESSAGE(got == (v > 0 ? v : 0), what, " of ", double(v), " is ",
                    double(got));
    } else {
      const Real expected = rounded<T>(gelu.of(v));
      if (got == 0 && std::fabs(expected) < kLeastGelu) continue;
      worst = std::max(worst, std::fabs(got - expected) / step_at<T>(expected));
    }
  }
  return static_cast<double>(worst);
}

}  // namespace

TEST_CASE("elementwise relu lets NaN pass, and never gives -0") {
  check_relu_of_all<Half>("relu half");
  check_relu_of_all<Brain>("relu bfloat16");
  const Floats special = {kNan, -kNan, kInf, -kInf, -0.f, 0.f};
  const Floats y = applied<float>("relu float", with(special, random(1000)));
  const Floats five = applied<float>("relu float", special);
  CHECK(std::isnan(five[0]));
  CHECK(std::isnan(five[1]));
  CHECK(five[2] == kInf);
  for (int i = 3; i < 6; ++i) CHECK(same_bits(five[i], 0.f));
  for (const float v : y) REQUIRE((std::isnan(v) || !std::signbit(v)));
}

TEST_CASE("elementwise GELUs of all halves and bfloat16s") {
  for (const Gelu& gelu : kGelus) {
    INFO(std::string(gelu.name));
    CHECK(worst_gelu<Half>(gelu, "half") <= 1);
    CHECK(worst_gelu<Brain>(gelu, "bfloat16") <= 1);
  }
}

TEST_CASE("elementwise GELUs of floats") {
  Floats x = random(20'000, -12.f, 8.f);
  for (const float v : sizes()) x.push_back(v);
  for (const Gelu& gelu : kGelus) {
    const Floats y = applied<float>(std::string(gelu.name) + " float", x);
    for (size_t i = 0; i < x.size(); ++i) {
      const Real expected = gelu.of(x[i]);
      const Real off = std::fabs(y[i] - expected);
      if (off <= 2e-5L * std::fabs(expected) + kLeastGelu) continue;
      FAIL(gelu.name, " of ", x[i], " is ", y[i], " and not ",
           double(expected));
    }
    for (const float v : {kInf, -kInf, kNan}) {
      const float got =
          applied<float>(std::string(gelu.name) + " float", Floats(5, v))[0];
      CHECK(same(got + 0.f, v == -kInf ? 0.f : v));
    }
  }
}

// ---- Pairs ------------------------------------------------------------------

namespace {

// Packs go by Apply2; arrays that are off by one from each other, one by one.
template <class R, class A>
void check_pairs(const std::string& what) {
  const std::vector<A> x = with(all_of<A>(), all_of<A>());
  const std::vector<R> pairs = applied<R>(what, x);
  const std::vector<R> singles = applied<R>(what, x, 1, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(number(pairs[i])) && std::isnan(number(singles[i])))
      continue;
    if (!same_bits(pairs[i], singles[i]))
      FAIL(what, " of ", shown(x[i]), ": ", shown(pairs[i]), " in a pair, ",
           shown(singles[i]), " alone");
  }
}

}  // namespace

TEST_CASE("elementwise gives the same bits in pairs as one by one") {
  check_pairs<Half, Half>("gelu_tanh half");
  check_pairs<float, Half>("cast half to float");
  check_pairs<float, Brain>("cast bfloat16 to float");
  Floats x = random(4096, -70'000.f, 70'000.f);
  x = with(sizes(), x);
  const auto check_float = [&]<class T>(const std::string& what, T) {
    const auto pairs = applied<T>(what, x), singles = applied<T>(what, x, 1, 0);
    for (size_t i = 0; i < x.size(); ++i)
      if (!same_bits(pairs[i], singles[i])) FAIL(what, " of ", x[i]);
  };
  check_float("cast float to half", Half{});
  check_float("cast float to bfloat16", Brain{});
}

// ---- Several results --------------------------------------------------------

namespace {

// The derivative of gelu_tanh.
Real gelu_slope(Real x) {
  const Real s = 1 / (1 + std::exp(-twice_u(x)));
  const Real du = std::sqrt(8 / std::acos(-1.0L)) * (1 + 3 * 0.044715L * x * x);
  return s + x * s * (1 - s) * du;
}

template <class T>
struct Gradients {
  std::vector<T> d, x, y, dx, dy;
};

template <class T>
Gradients<T> gradients(const std::string& what, int64_t n,
                       const std::array<int64_t, 5>& offsets) {
  Gradients<T> g{random_elements<T>(n), random_elements<T>(n),
                 random_elements<T>(n), std::vector<T>(n), std::vector<T>(n)};
  const T nan = of_bytes<T>(0xff);
  if (n > 20) g.d[3] = g.x[10] = g.y[20] = nan;
  Inputs<T> in(of_bytes<T>(kStrayByte));
  Outputs<T> out(of_bytes<T>(kGuardByte));
  const int64_t d = in.add(g.d, offsets[2]), x = in.add(g.x, offsets[3]),
                y = in.add(g.y, offsets[4]);
  out.add(g.dx, offsets[0]);
  out.add(g.dy, offsets[1]);
  in.upload();
  out.upload();
  const AnyElementwise call{what.c_str(),
                            0,
                            nullptr,
                            n,
                            {out.at(0), out.at(1)},
                            {in.at(d), in.at(x), in.at(y)}};
  REQUIRE(any_elementwise(&call, nullptr) == nullptr);
  for (const auto& [results, k] : {std::pair{&g.dx, 0}, {&g.dy, 1}})
    CUDA_CHECK(cudaMemcpy(static_cast<void*>(results->data()), out.at(k),
                          n * sizeof(T), cudaMemcpyDeviceToHost));
  REQUIRE(in.unchanged());
  return g;
}

template <class T>
void check_gradients(const std::string& type, Real relative) {
  for (const auto& offsets :
       {std::array<int64_t, 5>{}, {1, 1, 1, 1, 1}, {3, 1, 5, 7, 1}, {1}}) {
    const auto g = gradients<T>("gelu_mul_gradient " + type, 3001, offsets);
    for (size_t i = 0; i < g.d.size(); ++i) {
      const Real d = number(g.d[i]), x = number(g.x[i]), y = number(g.y[i]);
      const Real dx = d * y * gelu_slope(x), dy = d * gelu_tanh(x);
      const auto close = [&](Real expected, T got, Real scale) {
        if (std::isnan(expected)) return std::isnan(number(got));
        return std::fabs(number(got) - expected) <=
               relative * std::fabs(scale) + step_at<T>(0);
      };
      if (!close(dx, g.dx[i], d * y) || !close(dy, g.dy[i], d * x))
        FAIL(type, " of d ", double(d), ", x ", double(x), ", y ", double(y),
             ": ", double(number(g.dx[i])), " and ", double(number(g.dy[i])));
    }
  }
}

}  // namespace

TEST_CASE("elementwise writes two results") {
  check_gradients<float>("float", 1e-5L);
  check_gradients<Half>("half", 0x1p-10L);
  Outputs<float> halves(of_bytes<float>(kGuardByte));
  Outputs<int8_t> signs(kGuardByte);
  Inputs<float> in(of_bytes<float>(kStrayByte));
  std::vector<int64_t> begins;
  for (int64_t n = 0; n <= 20; ++n) {
    const Floats x = random(n);
    Floats half = x;
    std::vector<int8_t> sign(n);
    for (int64_t i = 0; i < n; ++i) half[i] = x[i] / 2, sign[i] = x[i] < 0;
    begins.push_back(in.add(x, n % 5));
    halves.add(half, n % 3);
    signs.add(sign, n % 4);
  }
  in.upload();
  halves.upload();
  signs.upload();
  for (int64_t n = 0; n <= 20; ++n) {
    const AnyElementwise call{"half_and_sign",
                              0,
                              nullptr,
                              n,
                              {halves.at(n), signs.at(n)},
                              {in.at(begins[n]), nullptr, nullptr}};
    REQUIRE(any_elementwise(&call, nullptr) == nullptr);
  }
  for (const std::string& wrong :
       halves.differences("half", same, shown<float>))
    CHECK(wrong == "");
  const auto equal = [](int8_t a, int8_t b) { return a == b; };
  for (const std::string& wrong :
       signs.differences("sign", equal, shown<int8_t>))
    CHECK(wrong == "");
}

TEST_CASE("elementwise multiplies by gelu(x)") {
  const Floats x = random(3001, -6.f, 6.f), y = random(3001);
  Calls<float, float, float> calls("gelu_mul float", [](float a, float b) {
    return static_cast<float>(gelu_tanh(a) * b);
  });
  calls.allow(2e-5L);
  calls.add_of(3001, {0, 0, 0}, {x, y});
  calls.add_of(3001, {1, 0, 2}, {x, y});
  calls.check(4);
}

TEST_CASE("elementwise rounds a product and a sum once") {
  Calls<float, float, float, float> floats(
      "fma float", [](float a, float b, float c) { return std::fma(a, b, c); });
  Calls<Half, Half, Half, Half> halves("fma half", [](Half a, Half b, Half c) {
    const double exact =
        double(number(a)) * double(number(b)) + double(number(c));
    return made<Half>(rounded<Half>(static_cast<float>(exact)));
  });
  for (int64_t offset = 0; offset < 5; ++offset) {
    floats.add_of(2050, {offset, 0, offset, 2},
                  {random(2050), random(2050), random(2050)});
    halves.add(2050, {offset, offset, offset, offset});
  }
  floats.check(4);
  halves.check(8);
}

// ---- A scalar on the device -------------------------------------------------

namespace {

// scalar = 3 x[0], and then y = scalar x: nobody on the host knows the scalar.
struct ByScalar {
  float *scalar, *y;
  const float* x;
  int64_t n;

  void launch(cudaStream_t stream) const {
    const AnyElementwise first{
        "scale float", 3, nullptr, 1, {scalar, nullptr}, {x, nullptr, nullptr}};
    const AnyElementwise second{
        "scale_by float", 0, scalar, n, {y, nullptr}, {x, nullptr, nullptr}};
    REQUIRE(any_elementwise(&first, stream) == nullptr);
    REQUIRE(any_elementwise(&second, stream) == nullptr);
  }
};

}  // namespace

TEST_CASE("elementwise takes a scalar that a kernel has just computed") {
  const int64_t n = 5003;
  const DeviceArray<float> scalar(1), y(n), x(Floats(n, 2.f));
  const Stream stream;
  const ByScalar calls{scalar.data(), y.data(), x.data(), n};
  calls.launch(stream);
  stream.finish();
  CHECK(y.to_host() == Floats(n, 12.f));

  const Recording recording(calls, "unary_with_factory()", stream);
  REQUIRE(recording.succeeded());
  CHECK_FALSE(recording.has_host_work());
  for (const float v : {5.f, -1.f}) {
    fill(x.data(), n, {v});
    recording.replay();
    CHECK(y.to_host() == Floats(n, 3 * v * v));
  }
}

TEST_CASE("elementwise serves two streams at once") {
  const int64_t n = 30'001;
  const DeviceArray<float> one(n), two(n), x(Floats(n, -1.f));
  const Stream first, second;
  for (int round = 0; round < 3; ++round) {
    const AnyElementwise scale{"scale float",
                               -4,
                               nullptr,
                               n,
                               {one.data(), nullptr},
                               {x.data(), nullptr, nullptr}};
    const AnyElementwise add{"add float",
                             0,
                             nullptr,
                             n,
                             {two.data(), nullptr},
                             {x.data(), x.data(), nullptr}};
    REQUIRE(any_elementwise(&scale, first) == nullptr);
    REQUIRE(any_elementwise(&add, second) == nullptr);
  }
  first.finish();
  second.finish();
  CHECK(one.to_host() == Floats(n, 4.f));
  CHECK(two.to_host() == Floats(n, -2.f));
}

// ---- Casts ------------------------------------------------------------------

namespace {

// A std::vector<bool> has no elements in memory.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// All there are, or where something changes and many others.
template <class T>
std::vector<Stored<T>> to_cast() {
  std::vector<Stored<T>> values;
  if constexpr (std::is_same_v<T, bool>) {
    return {0, 1, 1, 0, 1, 0, 0};
  } else if constexpr (sizeof(T) <= 2) {
    return all_of<T>();
  } else {
    for (int round = 0; round < 20'000; ++round)
      values.push_back(of_bits<T>(bits()()));
    for (int exponent = 0; exponent < 66; ++exponent) {
      for (const Real part : {-0.5L, 0.0L, 0.5L, 1.0L}) {
        const Real v = std::ldexp(1.0L, exponent) - part;
        if constexpr (kIsFraction<T>) {
          values.push_back(static_cast<T>(v));
          values.push_back(static_cast<T>(-v));
        } else {
          const uint64_t low = exponent < 64 ? static_cast<uint64_t>(v) : 0;
          values.push_back(static_cast<T>(low));
          values.push_back(static_cast<T>(-low));
        }
      }
      // Just above the middle of two halves, and of two bfloat16s: who rounds
      // twice takes it for the middle.
      for (const int digits : {8, 11}) {
        const Real v = std::ldexp(1 + std::ldexp(1.0L, -digits), exponent) +
                       (kIsFraction<T> ? 0x1p-35L : 1);
        if (kIsFraction<T> || v < 0x1p31L) values.push_back(static_cast<T>(v));
      }
    }
    return values;
  }
}

// What the page of chapter 13 says of a cast.
template <class To>
Real cast_to(Real v, bool from_fraction) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != 0;
  } else if constexpr (kIsFraction<To>) {
    return rounded<To>(v);
  } else {
    if (!from_fraction) return static_cast<To>(static_cast<int64_t>(v));
    if (std::isnan(v)) return 0;
    const Real least = std::numeric_limits<To>::min();
    const Real most = std::numeric_limits<To>::max();
    return std::clamp(std::trunc(v), least, most);
  }
}

// A type, so that 144 casts need not be compiled one by one.
using Bytes = std::vector<unsigned char>;
struct Type {
  std::string name;
  int64_t bytes;
  bool fraction;
  Real (*number)(const unsigned char*);
  Real (*cast)(Real, bool from_fraction);
  Bytes values;

  int64_t count() const { return std::ssize(values) / bytes; }
};

template <class T>
Type type(const char* name) {
  const auto values = to_cast<T>();
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const auto number_at = [](const unsigned char* at) -> Real {
    Stored<T> v;
    std::memcpy(static_cast<void*>(&v), at, sizeof v);
    return number(v);
  };
  return {name, sizeof(T), kIsFraction<T>, number_at, cast_to<T>, bytes};
}

// All of `from`, cast to the other, from one offset to another, in elements.
Bytes cast_all(const Type& from, const Type& to, int64_t r_offset,
               int64_t x_offset) {
  const std::string what = "cast " + from.name + " to " + to.name;
  Inputs<unsigned char> x(kStrayByte);
  Outputs<unsigned char> r(kGuardByte);
  const int64_t begin = x.add(from.values, x_offset * from.bytes);
  Bytes results(from.count() * to.bytes);
  r.add(results, r_offset * to.bytes);
  x.upload();
  r.upload();
  const AnyElementwise call{what.c_str(),
                            0,
                            nullptr,
                            from.count(),
                            {r.at(0), nullptr},
                            {x.at(begin), nullptr, nullptr}};
  const char* error = any_elementwise(&call, nullptr);
  REQUIRE_MESSAGE(!error, what, ": ", error);
  CUDA_CHECK(cudaMemcpy(results.data(), r.at(0), results.size(),
                        cudaMemcpyDeviceToHost));
  return results;
}

void check_cast(const Type& from, const Type& to) {
  const Bytes y = cast_all(from, to, 0, 0);
  for (int64_t i = 0; i < from.count(); ++i) {
    const unsigned char* const x_at = &from.values[i * from.bytes];
    const unsigned char* const y_at = &y[i * to.bytes];
    const Real expected = to.cast(from.number(x_at), from.fraction);
    const Real got = to.number(y_at);
    const bool right =
        std::isnan(expected)
            ? std::isnan(got)
            : got == expected &&
                  (!to.fraction || std::signbit(got) == std::signbit(expected));
    if (!right)
      FAIL("cast ", from.name, " to ", to.name, " of ", shown(x_at, from.bytes),
           " is ", shown(y_at, to.bytes));
  }
  for (const auto& [r, a] : {std::pair{1, 1}, {3, 1}, {0, 1}})
    REQUIRE_MESSAGE(cast_all(from, to, r, a) == y, "cast ", from.name, " to ",
                    to.name, " at offsets ", r, " and ", a);
}

}  // namespace

TEST_CASE("elementwise casts between any two of twelve types") {
  const std::vector<Type> types = {
      type<bool>("bool"),       type<int8_t>("int8"),
      type<int16_t>("int16"),   type<int32_t>("int32"),
      type<int64_t>("int64"),   type<uint8_t>("uint8"),
      type<uint16_t>("uint16"), type<uint32_t>("uint32"),
      type<Half>("half"),       type<Brain>("bfloat16"),
      type<float>("float"),     type<double>("double")};
  for (const Type& from : types)
    for (const Type& to : types) check_cast(from, to);
}

// ---- What is refused --------------------------------------------------------

namespace {

void check_refusal(const AnyElementwise& asked, const std::string& sentence) {
  const char* got = any_elementwise(&asked, nullptr);
  CHECK(std::string(got ? got : "nothing") == sentence);
}

}  // namespace

TEST_CASE(
    "elementwise refuses what is wrong, in a sentence, and does nothing") {
  const Floats before(64, 7.f);
  const DeviceArray<float> memory(before);
  float* const at = memory.data();
  const auto refused = [&](const char* what, int64_t n, void* r, void* r2,
                           const void* a, const void* b,
                           const std::string& sentence) {
    check_refusal({what, 2, nullptr, n, {r, r2}, {a, b, b}}, sentence);
  };
  const auto add = [&](int64_t n, void* r, const void* a, const void* b,
                       const std::string& sentence) {
    refused("add float", n, r, nullptr, a, b, sentence);
  };
  add(-1, at, at, at, "n is negative.");
  add(int64_t{1} << 50, at, at, at, "n is more than a grid has threads for.");
  add(4, nullptr, at, at, "An array is a null pointer.");
  add(4, at, nullptr, at, "An array is a null pointer.");
  add(4, at, at, nullptr, "An array is a null pointer.");
  const char* const bytes = reinterpret_cast<const char*>(at);
  const std::string crooked = "An array is not aligned to its elements.";
  add(4, at + 8, bytes + 2, at, crooked);
  add(4, const_cast<char*>(bytes) + 1, at + 8, at + 8, crooked);
  const std::string overlap = "A result overlaps an operand in part.";
  add(8, at + 1, at, at + 32, overlap);
  add(8, at, at + 7, at + 32, overlap);
  add(8, at + 20, at, at + 13, overlap);
  refused("cast float to half", 8, at, nullptr, at, nullptr, overlap);
  refused("cast half to float", 8, at, nullptr, at + 3, nullptr, overlap);
  const std::string results = "The results overlap.";
  refused("half_and_sign", 8, at, at, at + 32, nullptr, results);
  refused("half_and_sign", 8, at, at + 7, at + 32, nullptr, results);
  refused("gelu_mul_gradient float", 8, at, at, at + 32, at + 40, results);
  refused("half_and_sign", 8, at + 32, at, at + 1, nullptr, overlap);
  refused("add char", 8, at, nullptr, at, at, "There is no such function.");
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(memory.to_host() == before);

  const AnyElementwise nothing{"add float", 0, nullptr, 0, {}, {}};
  CHECK(any_elementwise(&nothing, nullptr) == nullptr);
  const AnyElementwise side_by_side{
      "add float", 0, nullptr, 8, {at + 8, nullptr}, {at, at + 16, nullptr}};
  CHECK(any_elementwise(&side_by_side, nullptr) == nullptr);
  CHECK(memory.to_host()[15] == 14.f);
}

TEST_CASE("elementwise handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const int64_t n = (int64_t{1} << 31) + 5;
  if (!has_memory(2 * n)) return;
  const DeviceArray<int8_t> x(n), y(n);
  std::vector<int8_t> period(kPeriod);
  for (int8_t& v : period) v = static_cast<int8_t>(up_to(255) - 128);
  fill(x.data(), n, period);
  const AnyElementwise call{"relu int8",
                            0,
                            nullptr,
                            n,
                            {y.data(), nullptr},
                            {x.data(), nullptr, nullptr}};
  REQUIRE(any_elementwise(&call, nullptr) == nullptr);
  for (const auto& [begin, end] : stretches(n)) {
    std::vector<int8_t> got(end - begin);
    CUDA_CHECK(cudaMemcpy(got.data(), y.data() + begin, got.size(),
                          cudaMemcpyDeviceToHost));
    for (int64_t i = begin; i < end; ++i)
      REQUIRE(got[i - begin] == std::max<int8_t>(period[i % kPeriod], 0));
  }
}

// ---- The path ---------------------------------------------------------------

namespace {

using elementwise::Place;

// Of elements of so many bytes at these offsets: one result, then operands.
elementwise::Path path_at(int64_t n, int bytes, const Offsets& offsets) {
  std::vector<Place> places;
  for (const int64_t o : offsets)
    places.push_back({256 + uintptr_t(bytes * o), bytes, bytes});
  const int pack = elementwise::kAccess / bytes;
  return elementwise::make_path(pack, pack, n, std::span(places).first(1),
                                std::span(places).subspan(1));
}
elementwise::Path path_of_floats(int64_t n, const Offsets& offsets) {
  return path_at(n, sizeof(float), offsets);
}

}  // namespace

TEST_CASE("packs have the size that every type allows") {
  using elementwise::kPackSize, elementwise::share_of;
  CHECK(kPackSize<int8_t> == 8);
  CHECK(kPackSize<Half> == 8);
  CHECK(kPackSize<float> == 4);
  CHECK(kPackSize<double> == 2);
  CHECK(kPackSize<double2> == 1);
  CHECK(kPackSize<float3> == 1);
  CHECK(kPackSize<Half, Half, Half> == 8);
  CHECK(kPackSize<int8_t, float> == 4);
  CHECK(kPackSize<float, Half> == 4);
  CHECK(kPackSize<double, int8_t> == 2);
  // A thread loads 16 bytes at least.
  CHECK(share_of<float>(4) == 4);
  CHECK(share_of<Half>(8) == 8);
  CHECK(share_of<int8_t>(8) == 16);
  CHECK(share_of<Half>(4) == 8);
  CHECK(share_of<bool>(2) == 16);
  CHECK(share_of<float, float>(4) == 4);
}

TEST_CASE("a pack gets a thread, and 256 threads a block") {
  const int64_t image = 3 * 224 * 224;
  CHECK(path_of_floats(image, {0, 0}).blocks == 147);
  CHECK(path_of_floats(1, {0, 0}).blocks == 1);
  CHECK(path_of_floats(1024, {0, 0}).blocks == 1);
  CHECK(path_of_floats(1028, {0, 0}).blocks == 2);
  // What is in no pack has a block of its own.
  CHECK(path_of_floats(1023, {0, 0}).blocks == 2);
  CHECK(path_of_floats(1027, {0, 0}).blocks == 2);
  CHECK(path_of_floats(1028, {1, 1}).blocks == 2);
  // Narrow packs do not need more threads.
  CHECK(path_of_floats(image, {0, 1}).blocks == 147);
  CHECK(path_of_floats(image, {0, 2}).blocks == 147);
}

TEST_CASE("packs are as wide as the addresses allow") {
  for (const int bytes : {2, 4, 8}) {
    for (int64_t c = 0; c < 16 * 16 * 16; ++c) {
      const Offsets offsets{c / 256, c / 16 % 16, c % 16};
      for (const int64_t n : {0, 1, 3, 20, 100}) {
        const auto path = path_at(n, bytes, offsets);
        const auto best =
            best_path(16 / bytes, n, offsets, {bytes, bytes, bytes});
        REQUIRE(path.width == best.width);
        REQUIRE(path.head == best.head);
        REQUIRE(path.packs == best.packs);
        REQUIRE(path.shifted == best.shifted);
      }
    }
  }
}
