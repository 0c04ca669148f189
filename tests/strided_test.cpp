// What the strided engine of chapter 15 must do, beside a reference on the host
// that goes through the elements one by one.
#include <map>
#include <numeric>

#include "chapters/15_strides_and_casts/paths.h"
#include "tests/any_strided/any_strided.h"
#include "tests/contract.h"

namespace {

using namespace contract;
using strided::Type, strided::kMostDims;

using Sizes = std::vector<int64_t>;
using Number = long double;  // It holds each element of each type exactly.
using Bytes = std::vector<unsigned char>;

// ---- Numbers in memory, as the formats are defined --------------------------

const std::map<std::string, Type> kTypes = {
    {"bool", Type::kBool},   {"uint8", Type::kUInt8},
    {"int8", Type::kInt8},   {"int16", Type::kInt16},
    {"int32", Type::kInt32}, {"int64", Type::kInt64},
    {"half", Type::kHalf},   {"bfloat16", Type::kBFloat16},
    {"float", Type::kFloat}, {"double", Type::kDouble}};
constexpr int kTypeCount = 10;

std::string name_of(Type type) {
  for (const auto& [name, t] : kTypes)
    if (t == type) return name;
  return "?";
}
bool is_fraction(Type type) { return type >= Type::kHalf; }
bool is_narrow(Type type) {
  return type == Type::kHalf || type == Type::kBFloat16;
}

template <class T>
T loaded(const unsigned char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <class T>
void stored(unsigned char* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

Number half_of(uint16_t bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  const Number sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return digits ? kNan : sign * kInf;
  if (exponent == 0) return sign * std::ldexp(Number(digits), -24);
  return sign * std::ldexp(Number(1024 + digits), exponent - 25);
}
uint16_t bits_of_half(Number v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  v = std::fabs(v);
  if (std::isnan(v)) return 0x7fff;
  if (v >= 65520) return sign | 0x7c00;
  const int exponent = v == 0 ? -14 : std::max(std::ilogb(v), -14);
  const int digits = std::nearbyint(std::ldexp(v, 10 - exponent));
  // Digits that reach 2048 carry into the exponent.
  return sign | (((exponent + 14) << 10) + digits);
}
// bfloat16 is the upper half of a float.
Number brain_of(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}
uint16_t bits_of_brain(float v) {
  if (std::isnan(v)) return 0x7fff;
  const auto bits = std::bit_cast<uint32_t>(v);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

Number number_at(const unsigned char* at, Type type) {
  switch (type) {
    case Type::kBool:
      return *at != 0;
    case Type::kUInt8:
      return *at;
    case Type::kInt8:
      return loaded<int8_t>(at);
    case Type::kInt16:
      return loaded<int16_t>(at);
    case Type::kInt32:
      return loaded<int32_t>(at);
    case Type::kInt64:
      return loaded<int64_t>(at);
    case Type::kHalf:
      return half_of(loaded<uint16_t>(at));
    case Type::kBFloat16:
      return brain_of(loaded<uint16_t>(at));
    case Type::kFloat:
      return loaded<float>(at);
    case Type::kDouble:
      return loaded<double>(at);
  }
  return 0;
}

// A whole number loses its upper bits; what was a fraction stops at the ends.
template <class T>
T whole(Number v, bool from_fraction) {
  if (!from_fraction) return static_cast<T>(static_cast<int64_t>(v));
  if (std::isnan(v)) return 0;
  using Ends = std::numeric_limits<T>;
  return static_cast<T>(
      std::clamp<Number>(std::trunc(v), Ends::min(), Ends::max()));
}

void put(unsigned char* at, Type type, Number v, bool from_fraction) {
  switch (type) {
    case Type::kBool:
      return stored<uint8_t>(at, v != 0);
    case Type::kUInt8:
      return stored(at, whole<uint8_t>(v, from_fraction));
    case Type::kInt8:
      return stored(at, whole<int8_t>(v, from_fraction));
    case Type::kInt16:
      return stored(at, whole<int16_t>(v, from_fraction));
    case Type::kInt32:
      return stored(at, whole<int32_t>(v, from_fraction));
    case Type::kInt64:
      return stored(at, whole<int64_t>(v, from_fraction));
    case Type::kHalf:
      return stored(at, bits_of_half(static_cast<float>(v)));
    case Type::kBFloat16:
      return stored(at, bits_of_brain(static_cast<float>(v)));
    case Type::kFloat:
      return stored(at, static_cast<float>(v));
    case Type::kDouble:
      return stored(at, static_cast<double>(v));
  }
}

// `v` of one type as a number of another.
Number cast(Number v, Type from, Type to) {
  unsigned char place[8];
  put(place, to, v, is_fraction(from));
  return number_at(place, to);
}

bool is_same(const unsigned char* a, const unsigned char* b, Type type) {
  const Number x = number_at(a, type), y = number_at(b, type);
  if (std::isnan(x)) return std::isnan(y);
  return x == y && std::signbit(x) == std::signbit(y);
}

// ---- What is asked ----------------------------------------------------------

struct Shaped {
  Type type = Type::kFloat;
  Sizes sizes, strides;
  int64_t offset = 0;  // In elements, past a 256-byte line.

  int bytes() const { return strided::bytes_of(type); }
  int64_t extent() const {
    int64_t last = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 0) return 0;
      last += (sizes[d] - 1) * strides[d];
    }
    return last + 1;
  }
};

// The first array is the output, or the first two are.
struct Case {
  std::string what;
  std::vector<Shaped> arrays;
  double scalar = 0;
  bool in_place = false;  // The output is the first input, too.

  Type type() const { return kTypes.at(what.substr(what.rfind(' ') + 1)); }
  int outputs() const { return what[0] == 's' ? 2 : 1; }
  int inputs() const { return static_cast<int>(arrays.size()) - outputs(); }
};

std::string text(const Case& c) {
  std::string line = c.what;
  for (const Shaped& array : c.arrays) {
    line += "\n  " + name_of(array.type) + " (";
    for (const auto v : array.sizes) line += std::to_string(v) + " ";
    line += ") strides (";
    for (const auto v : array.strides) line += std::to_string(v) + " ";
    line += ") at offset " + std::to_string(array.offset);
  }
  return line + (c.in_place ? ", in place" : "");
}

Sizes dense(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t next = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = next;
    next *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

// All of one shape, side by side.
Case plain(const std::string& what, const Sizes& sizes,
           const std::vector<Type>& types) {
  Case c{what, {}};
  for (const Type type : types) c.arrays.push_back({type, sizes, dense(sizes)});
  return c;
}

// ---- What must come out -----------------------------------------------------

// In the function's own type, which 16 bits leave for a float meanwhile.
std::vector<Number> results(const Case& c, const std::vector<Number>& in) {
  const Type type = c.type();
  const Type wide = is_narrow(type) ? Type::kFloat : type;
  const auto rounded = [&](Number v) { return cast(v, wide, wide); };
  if (c.what.starts_with("copy")) return {in[0]};
  if (c.what.starts_with("relu")) return {in[0] <= 0 ? Number{0} : in[0]};
  if (c.what.starts_with("addcmul"))  // nvcc makes one instruction of it.
    return {std::fma(static_cast<float>(in[1]), static_cast<float>(in[2]),
                     static_cast<float>(in[0]))};
  if (c.what.starts_with("less")) return {in[0] < in[1] ? 1.0L : 0.0L};
  if (c.what.starts_with("add scalar"))
    return {rounded(in[0] + static_cast<float>(c.scalar))};
  if (c.what.starts_with("sum"))
    return {rounded(in[0] + in[1]), rounded(in[0] - in[1])};
  REQUIRE(c.what.starts_with("add"));
  return {rounded(in[0] + in[1])};
}

std::mt19937_64& bits() {
  static std::mt19937_64 generator(seed() + 15);
  return generator;
}
int64_t up_to(int64_t most) { return bits()() % (most + 1); }

// Small numbers, and one in eight of any bits.
void randomise(unsigned char* at, Type type) {
  if (up_to(7) == 0 && type != Type::kDouble) {
    stored(at, static_cast<uint8_t>(bits()()));
    for (int b = 1; b < strided::bytes_of(type); ++b)
      at[b] = static_cast<unsigned char>(bits()());
  } else {
    const Number v = up_to(4000) - 2000;
    put(at, type, is_fraction(type) ? v / 16 : std::fmod(v, 100), false);
  }
}

// ---- A call -----------------------------------------------------------------

constexpr unsigned char kByte = 0xa5;  // In whatever is not to be written.
constexpr int64_t kLine = 256;

// The place of element i, counted in the output's shape.
int64_t place_of(const Shaped& array, const Sizes& shape, int64_t i) {
  int64_t place = 0;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const int64_t index = i % shape[shape.size() - back];
    i /= shape[shape.size() - back];
    if (back > array.sizes.size()) continue;
    const size_t d = array.sizes.size() - back;
    if (array.sizes[d] != 1) place += index * array.strides[d];
  }
  return place;
}

class Call {
 public:
  explicit Call(const Case& c, const Bytes* first_input = nullptr) : case_(c) {
    for (int a = 0; a < std::ssize(c.arrays); ++a) {
      const Shaped& array = c.arrays[a];
      begin_.push_back(kLine + array.offset * array.bytes());
      const int64_t bytes = array.extent() * array.bytes();
      host_.emplace_back(begin_[a] + bytes + kLine, kByte);
      if (a == c.outputs() && first_input) {
        std::copy(first_input->begin(), first_input->end(), at(host_, a));
      } else if (a >= c.outputs()) {
        for (int64_t i = 0; i < array.extent(); ++i)
          randomise(at(host_, a) + i * array.bytes(), array.type);
      }
    }
    if (c.in_place) host_[0] = host_[c.outputs()];
    for (const Bytes& memory : host_)
      device_.push_back(std::make_unique<DeviceArray<unsigned char>>(memory));
    for (int a = 0; a < std::ssize(c.arrays); ++a) {
      const int held = c.in_place && a == c.outputs() ? 0 : a;
      const Shaped& array = case_.arrays[a];  // It stays, as what is asked.
      asked_arrays_.push_back({device_[held]->data() + begin_[held],
                               static_cast<int>(array.type),
                               static_cast<int>(array.sizes.size()),
                               array.sizes.data(), array.strides.data()});
    }
    asked_ = {case_.what.c_str(), c.scalar,
              static_cast<int>(asked_arrays_.size()), asked_arrays_.data()};
  }
  Call(const Call&) = delete;

  const char* launch(cudaStream_t stream = nullptr) const {
    return any_strided(&asked_, stream);
  }
  std::string path() const { return any_strided_path(&asked_); }

  // The first thing that is wrong, or nothing.
  std::string trouble() {
    if (const char* error = launch()) return std::string("refused: ") + error;
    return wrong_result();
  }
  std::string wrong_result() {
    const std::vector<Bytes> expected = all_expected();
    for (int a = 0; a < std::ssize(expected); ++a) {
      if (case_.in_place && a == case_.outputs()) continue;
      const std::string wrong = difference(a, expected[a]);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  unsigned char* at(std::vector<Bytes>& all, int a) const {
    return all[a].data() + begin_[a];
  }
  const unsigned char* at(const std::vector<Bytes>& all, int a) const {
    return all[a].data() + begin_[a];
  }

  std::vector<Bytes> all_expected() const {
    std::vector<Bytes> all = host_;
    const Sizes& shape = case_.arrays[0].sizes;
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<Number> in;
      for (int a = case_.outputs(); a < std::ssize(case_.arrays); ++a) {
        const Shaped& array = case_.arrays[a];
        const auto* place =
            at(host_, a) + place_of(array, shape, i) * array.bytes();
        in.push_back(
            cast(number_at(place, array.type), array.type, case_.type()));
      }
      const std::vector<Number> out = results(case_, in);
      for (int a = 0; a < case_.outputs(); ++a) {
        const Shaped& array = case_.arrays[a];
        put(at(all, a) + place_of(array, shape, i) * array.bytes(), array.type,
            cast(out[a], case_.type(), case_.type()),
            is_fraction(case_.type()));
      }
    }
    return all;
  }

  // Of an array's elements, and of what lies around and between them.
  std::string difference(int a, const Bytes& expected) const {
    const Bytes now = device_[a]->to_host();
    const Shaped& array = case_.arrays[a];
    if (now == expected) return "";
    const int64_t end = begin_[a] + array.extent() * array.bytes();
    const std::string name = "array " + std::to_string(a);
    for (int64_t i = 0; i < std::ssize(now); ++i)
      if ((i < begin_[a] || i >= end) && now[i] != expected[i])
        return name + ": it wrote where it may not";
    for (int64_t i = 0; i < array.extent(); ++i) {
      const int64_t place = begin_[a] + i * array.bytes();
      if (std::memcmp(&now[place], &expected[place], array.bytes()) == 0 ||
          (is_fraction(array.type) &&
           is_same(&now[place], &expected[place], array.type)))
        continue;
      char line[160];
      std::snprintf(
          line, sizeof line, ": element %lld expected %.12Lg, got %.12Lg",
          static_cast<long long>(i), number_at(&expected[place], array.type),
          number_at(&now[place], array.type));
      return name + line;
    }
    return "";
  }

  const Case case_;
  std::vector<int64_t> begin_;
  std::vector<Bytes> host_;
  std::vector<std::unique_ptr<DeviceArray<unsigned char>>> device_;
  std::vector<AnyArray> asked_arrays_;
  AnyStrided asked_;
};

void check(const Case& c) {
  Call call(c);
  const std::string trouble = call.trouble();
  if (!trouble.empty())
    FAIL_CHECK(text(c), "\n  ", call.path(), "\n  ", trouble);
}

// Tiles and shared rows are for arrays that fill a GPU. The executor can be
// told that it is a small one; on a GPU the same arrays may go another way.
bool is_small_gpu() { return simt::make_read_only != nullptr; }

// The same, and the path that it takes begins like this.
void check(const Case& c, const std::string& path) {
  check(c);
  const std::string taken = Call(c).path();
  if (is_small_gpu() && !taken.starts_with(path))
    FAIL_CHECK(text(c), "\n  expected ", path, ", got ", taken);
}

// ---- Cases that are drawn ---------------------------------------------------

Type some_type() { return static_cast<Type>(up_to(kTypeCount - 1)); }

// Any order of dimensions, and gaps.
Sizes some_strides(const Sizes& sizes, bool repeats) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (up_to(1))
    std::shuffle(order.begin(), order.end(), bits());
  else
    std::reverse(order.begin(), order.end());
  Sizes strides(sizes.size());
  int64_t next = 1;
  for (const size_t d : order) {
    if (up_to(5) == 0) next += up_to(3);
    strides[d] = repeats && up_to(5) == 0 ? 0 : next;
    if (strides[d] != 0) next = strides[d] * sizes[d];
  }
  return strides;
}

Case random_case(const std::string& what, int arrays) {
  Case c{what, {}};
  c.scalar = 0.1;
  Sizes shape;
  int64_t left = up_to(3) == 0 ? 20'000 : 3000;
  for (int rank = up_to(15) == 0 ? up_to(kMostDims) : up_to(4); rank > 0;
       --rank) {
    const int64_t most = rank == 1 ? left : std::sqrt(left);
    int64_t size = 1 + up_to(std::max<int64_t>(most - 1, 0));
    if (up_to(1) && size > 8) size = size / 8 * 8;
    if (up_to(3) == 0) size = 1 + up_to(std::min<int64_t>(most - 1, 4));
    left /= size;
    shape.insert(shape.begin() + up_to(shape.size()), size);
  }
  const bool one_type = up_to(1), all_dense = up_to(3) == 0;
  for (int a = 0; a < arrays; ++a) {
    Shaped array{one_type ? c.type() : some_type(), shape, dense(shape)};
    if (a >= c.outputs() && up_to(2) == 0) {
      array.sizes.erase(array.sizes.begin(),
                        array.sizes.begin() + up_to(shape.size()));
      for (int64_t& size : array.sizes)
        if (up_to(2) == 0) size = 1;
    }
    array.strides = all_dense || up_to(2) == 0
                        ? dense(array.sizes)
                        : some_strides(array.sizes, a >= c.outputs());
    array.offset = up_to(1) ? 0 : up_to(15);
    c.arrays.push_back(array);
  }
  return c;
}

const std::map<std::string, int> kFunctions = {
    {"add float", 3},       {"add half", 3},
    {"add bfloat16", 3},    {"add int32", 3},
    {"copy bool", 2},       {"copy uint8", 2},
    {"copy int8", 2},       {"copy int16", 2},
    {"copy int32", 2},      {"copy int64", 2},
    {"copy half", 2},       {"copy bfloat16", 2},
    {"copy float", 2},      {"copy double", 2},
    {"relu float", 2},      {"relu half", 2},
    {"addcmul float", 4},   {"less float", 3},
    {"add scalar half", 2}, {"sum and difference float", 4}};

}  // namespace

// ---- The divider ------------------------------------------------------------

namespace {

void check_quotients(const std::vector<uint32_t>& all, uint32_t d) {
  const DeviceArray<uint32_t> n(all), quotients(all.size());
  any_quotients(n.data(), static_cast<int>(all.size()), d, quotients.data());
  const std::vector<uint32_t> found = quotients.to_host();
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(all[i], " / ", d);
    REQUIRE(any_quotient(all[i], d) == all[i] / d);
    REQUIRE(found[i] == all[i] / d);
  }
}

}  // namespace

TEST_CASE("the divider divides at every edge") {
  std::vector<uint32_t> edges = {0, 1, 2, 3, INT32_MAX - 1, INT32_MAX};
  for (int k = 2; k < 31; ++k)
    for (const int off : {-1, 0, 1}) edges.push_back((1u << k) + off);
  for (const uint32_t d : edges) {
    if (d == 0) continue;
    std::vector<uint32_t> all = edges;
    const uint32_t most = INT32_MAX / d * d;  // The greatest multiple,
    all.push_back(most);                      // and just before it.
    all.push_back(most - 1);
    check_quotients(all, d);
  }
}

TEST_CASE("the divider divides at random") {
  for (int k = 0; k < 200; ++k) {
    std::vector<uint32_t> all(1000);
    for (uint32_t& n : all) n = up_to(INT32_MAX);
    check_quotients(all, 1 + up_to(INT32_MAX - 1) % (1u << up_to(30)));
  }
}

// ---- The engine -------------------------------------------------------------

TEST_CASE("gpu_kernel handles random shapes, strides and types") {
  const Setting sms("SIMT_SMS", "1");  // Fewer threads fill it.
  MESSAGE("CHECK_SEED=", seed(), " draws these cases");
  for (const auto& [what, arrays] : kFunctions)
    for (int k = 0; k < rounds(40); ++k) check(random_case(what, arrays));
}

TEST_CASE("gpu_kernel handles every length") {
  for (const int64_t n : lengths({0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257,
                                  1021, 1024, 1025, 4099, 10'007})) {
    check(plain("add float", {n}, std::vector(3, Type::kFloat)));
    check(plain("copy half", {n}, std::vector(2, Type::kHalf)));
    check(plain("copy uint8", {n}, std::vector(2, Type::kUInt8)));
    check(plain("copy float", {n}, {Type::kFloat, Type::kHalf}));
    check(plain("copy double", {n}, {Type::kInt8, Type::kDouble}));
  }
}

TEST_CASE("gpu_kernel handles every pair of offsets") {
  for (int64_t x = 0; x < 16; ++x) {
    for (int64_t y = 0; y < 16; ++y) {
      const auto shifted = [&](const std::string& what, Type out, Type in) {
        Case c = plain(what, {1037}, {out, in});
        c.arrays[0].offset = y;
        c.arrays[1].offset = x;
        check(c);
      };
      shifted("copy half", Type::kHalf, Type::kHalf);
      shifted("relu float", Type::kFloat, Type::kFloat);
      shifted("copy uint8", Type::kUInt8, Type::kUInt8);
      shifted("copy float", Type::kFloat, Type::kHalf);
    }
  }
}

TEST_CASE("gpu_kernel shifts packs of every length and type") {
  const auto late = [](Case c, std::initializer_list<int64_t> offsets) {
    for (int a = 0; const int64_t offset : offsets)
      c.arrays[a++].offset = offset;
    return c;
  };
  for (int64_t n = 0; n < 50; ++n)
    check(late(plain("copy half", {n}, std::vector(2, Type::kHalf)), {1, 4}));
  for (const int64_t n : {31, 1037})
    for (int64_t x = 0; x < 9; ++x)
      for (const Type type : {Type::kDouble, Type::kInt8, Type::kInt64})
        check(late(plain("add float", {n}, {Type::kFloat, type, Type::kFloat}),
                   {3, x, 2}));
}

// A race would tell: the input and the output lie side by side, and nothing
// else is in that memory.
TEST_CASE("gpu_kernel reads nothing of its neighbours") {
  constexpr int64_t kOne = 1;
  for (const int64_t n : {37, 4099}) {
    for (const bool input_first : {true, false}) {
      DeviceArray<float> both(std::vector<float>(2 * n, 1.f));
      float* const y = both.data() + (input_first ? n : 0);
      const float* const x = both.data() + (input_first ? 0 : n);
      const int type = static_cast<int>(Type::kFloat);
      const AnyArray out = {y, type, 1, &n, &kOne},
                     in = {x, type, 1, &n, &kOne};
      const AnyArray arrays[] = {out, in, in};
      const AnyStrided asked = {"add float", 0, 3, arrays};
      REQUIRE(any_strided(&asked, nullptr) == nullptr);
      const std::vector<float> seen = both.to_host();
      for (int64_t i = 0; i < n; ++i)
        REQUIRE(seen[i + (input_first ? n : 0)] == 2.f);
    }
  }
}

// Of an input that is also the output, a thread reads what is its own, although
// it reads more of the one that begins late.
TEST_CASE("gpu_kernel works in place beside an input that begins late") {
  for (const int64_t n : {37, 4099}) {
    for (const int64_t offset : {1, 2, 3}) {
      Case c = plain("add float", {n}, std::vector(3, Type::kFloat));
      c.in_place = true;
      c.arrays[2].offset = offset;
      check(c);
    }
  }
}

TEST_CASE("gpu_kernel works in place") {
  for (const int64_t offset : {0, 1, 3}) {
    for (Case c : {plain("relu float", {1025}, std::vector(2, Type::kFloat)),
                   plain("add float", {30, 41}, std::vector(3, Type::kFloat)),
                   plain("relu half", {70, 3}, std::vector(2, Type::kHalf))}) {
      c.in_place = true;
      c.arrays[0].offset = c.arrays[1].offset = offset;
      check(c);
      for (int a = 0; a < 2; ++a)  // With a gap after each row.
        for (size_t d = 0; d + 1 < c.arrays[a].sizes.size(); ++d)
          c.arrays[a].strides[d] += 5;
      check(c);
    }
  }
}

TEST_CASE("gpu_kernel casts all halves to every type") {
  Bytes all;
  for (int bits = 0; bits < 1 << 16; ++bits) {
    all.push_back(bits & 255);
    all.push_back(bits >> 8);
  }
  for (const Type from : {Type::kHalf, Type::kBFloat16, Type::kInt16}) {
    for (const auto& [name, to] : kTypes) {
      const Case c = plain("copy " + name, {1 << 16}, {to, from});
      const std::string trouble = Call(c, &all).trouble();
      if (!trouble.empty()) FAIL_CHECK(text(c), "\n  ", trouble);
    }
  }
}

TEST_CASE("gpu_kernel casts between all types") {
  for (const auto& [function, type] : kTypes)
    for (int from = 0; from < kTypeCount; ++from)
      for (int to = 0; to < kTypeCount; ++to)
        check(plain("copy " + function, {301},
                    {static_cast<Type>(to), static_cast<Type>(from)}));
}

TEST_CASE("gpu_kernel saturates fractions, and wraps whole numbers") {
  const float kFloats[] = {-1e30f, -2147483904.f, -129,         -128.9f, -1,
                           -0.f,   0.5f,          127.5f,       128,     255.9f,
                           256,    32768,         2147483648.f, 9.3e18f, kInf,
                           -kInf,  kNan};
  Bytes all(sizeof kFloats);
  std::memcpy(all.data(), kFloats, sizeof kFloats);
  for (const auto& [name, to] : kTypes) {
    const Case c =
        plain("copy " + name, {std::ssize(all) / 4}, {to, Type::kFloat});
    CHECK(Call(c, &all).trouble() == "");
  }
  Bytes whole(8);
  const int64_t large = (int64_t{1} << 40) + 300;
  std::memcpy(whole.data(), &large, 8);
  const Case c = plain("copy uint8", {1}, {Type::kUInt8, Type::kInt64});
  CHECK(Call(c, &whole).trouble() == "");
}

TEST_CASE("gpu_kernel takes the path that was planned") {
  const Setting sms("SIMT_SMS", "1");
  const auto adds = [](const Sizes& sizes) {
    return plain("add float", sizes, std::vector(3, Type::kFloat));
  };
  check(adds({40, 50}), "contiguous, packs of 4, rows of 1");

  Case c = adds({40, 50});
  c.arrays[2].type = Type::kHalf;
  check(c, "contiguous with casts, packs of 4");

  c = adds({41, 53});
  c.arrays[1].strides = {159, 3};
  check(c, "strided, packs of 1");
  c.arrays[0].type = Type::kDouble;
  check(c, "strided with casts, packs of 1");
}

TEST_CASE("gpu_kernel turns what lies the other way through tiles") {
  const Setting sms("SIMT_SMS", "1");
  for (const Sizes& sizes : std::vector<Sizes>{
           {64, 64}, {33, 97}, {130, 65}, {3, 70, 40}, {768, 769}}) {
    const size_t rank = sizes.size();
    const auto turned = [&](Case c, std::vector<int> which) {
      for (const int a : which) {
        Sizes other = sizes;
        std::swap(other[rank - 1], other[rank - 2]);
        c.arrays[a].strides = dense(other);
        std::swap(c.arrays[a].strides[rank - 1], c.arrays[a].strides[rank - 2]);
      }
      return c;
    };
    const Case floats = plain("add float", sizes, std::vector(3, Type::kFloat));
    check(turned(floats, {2}), "tiles,");
    check(turned(floats, {1}), "tiles,");
    check(turned(floats, {1, 2}), sizes.size() == 2 ? "tiles," : "tiles");
    Case mixed = floats;
    mixed.arrays[1].type = Type::kHalf;
    mixed.arrays[0].type = Type::kDouble;
    check(turned(mixed, {1}), "tiles with casts,");
    if (sizes[0] > 200 && is_small_gpu()) continue;  // It would take long.
    check(turned(plain("copy uint8", sizes, std::vector(2, Type::kUInt8)), {1}),
          "tiles,");
    check(turned(plain("add half", sizes, std::vector(3, Type::kHalf)), {2}),
          "tiles,");
    check(
        turned(plain("copy double", sizes, std::vector(2, Type::kDouble)), {1}),
        "tiles,");
    check(turned(plain("sum and difference float", sizes,
                       std::vector(4, Type::kFloat)),
                 {3}),
          "tiles,");
  }
}

TEST_CASE("gpu_kernel reads what rows share once for several of them") {
  const Setting sms("SIMT_SMS", "1");
  Case c = plain("add float", {64, 1024}, std::vector(3, Type::kFloat));
  c.arrays[2].sizes = {1024};
  c.arrays[2].strides = {1};
  check(c, "strided, packs of 4, rows of 8");
  c.arrays[2].type = Type::kHalf;
  check(c, "strided with casts, packs of 4, rows of 8");
  for (Shaped& array : c.arrays)
    array.sizes[0] = std::ssize(array.sizes) == 2 ? 66 : 1024;
  check(c, "strided with casts, packs of 4, rows of 2");
  if (is_small_gpu()) return;
  for (Shaped& array : c.arrays)
    if (array.sizes.size() == 2) array.sizes[0] = 2304;
  check(c);
}

TEST_CASE("gpu_kernel repeats a column, and folds rows too short for a pack") {
  const auto sums = [](const Sizes& sizes, const Sizes& of_y,
                       const Sizes& strides) {
    Case c = plain("add float", sizes, std::vector(3, Type::kFloat));
    c.arrays[2].sizes = of_y;
    c.arrays[2].strides = strides;
    return c;
  };
  check(sums({50, 40}, {50, 1}, {1, 1}), "strided, packs of 4");
  for (int64_t k = 2; k < 34; ++k) {
    check(sums({301, k}, {k}, {1}), "strided, packs of 4");
    check(sums({301, k}, {301, 1}, {3, 1}), "strided, packs of 4");
  }
  check(sums({7, 11, 13}, {11, 1}, {1, 1}), "strided, packs of 4");
}

TEST_CASE("gpu_kernel packs by the largest type of a function") {
  const std::vector<Type> types = {Type::kBool, Type::kFloat, Type::kFloat};
  check(plain("less float", {4099}, types), "contiguous, packs of 4");
}

TEST_CASE("gpu_kernel keeps a host's scalar as exact as it computes") {
  Case c = plain("add scalar half", {1000}, std::vector(2, Type::kHalf));
  c.scalar = 0.1;  // As a half it would be 0.09998.
  check(c, "contiguous, packs of 8");
}

TEST_CASE("gpu_kernel fills several outputs") {
  for (const Sizes& sizes : std::vector<Sizes>{{1001}, {20, 31}, {64, 16}}) {
    Case c =
        plain("sum and difference float", sizes, std::vector(4, Type::kFloat));
    check(c, "contiguous, packs of 4");
    c.arrays[1].type = Type::kHalf;
    check(c, "contiguous with casts");
    c.arrays[0].offset = 1;
    check(c, "contiguous with casts, packs of 1");
  }
}

TEST_CASE("gpu_kernel handles 25 dimensions, none, and none of an element") {
  Sizes sizes(kMostDims, 1);
  for (int d = 0; d < kMostDims; d += 2) sizes[d] = 2;
  Case c = plain("add float", sizes, std::vector(3, Type::kFloat));
  std::reverse(c.arrays[1].strides.begin(), c.arrays[1].strides.end());
  check(c);
  check(plain("add float", {}, std::vector(3, Type::kFloat)));
  check(plain("add float", {3, 0, 2}, std::vector(3, Type::kFloat)));
}

TEST_CASE("gpu_kernel works on its stream, and in a CUDA graph") {
  const Stream stream;
  Call call(plain("add float", {10'000}, std::vector(3, Type::kFloat)));
  struct Again {
    Call& call;
    void launch(cudaStream_t stream) const {
      REQUIRE(call.launch(stream) == nullptr);
    }
  };
  const Recording recording(Again{call}, "gpu_kernel()", stream);
  REQUIRE(recording.succeeded());
  CHECK_FALSE(recording.has_host_work());
  CHECK(call.wrong_result() != "");
  recording.replay();
  CHECK(call.wrong_result() == "");
}

TEST_CASE("gpu_kernel handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const int64_t n = (int64_t{1} << 31) + 5;
  if (!has_memory(2 * n)) return;
  const std::vector<int8_t> period = [] {
    std::vector<int8_t> values(kPeriod);
    for (int8_t& v : values) v = static_cast<int8_t>(bits()());
    return values;
  }();
  const DeviceArray<int8_t> x(n), y(n);
  fill(x.data(), n, period);
  const int64_t stride = 1;
  const int type = static_cast<int>(Type::kInt8);
  const AnyArray arrays[] = {{y.data(), type, 1, &n, &stride},
                             {x.data(), type, 1, &n, &stride}};
  const AnyStrided asked{"copy int8", 0, 2, arrays};
  CHECK(std::string(any_strided_path(&asked)) ==
        "contiguous, packs of 8, rows of 1, pieces: 2");
  REQUIRE(any_strided(&asked, nullptr) == nullptr);
  CHECK(first_difference(y.data(), n, period) == n);
}

// ---- What is refused --------------------------------------------------------

namespace {

// In the planner: nothing is launched.
std::string refusal(const std::vector<strided::Array>& arrays,
                    int outputs = 1) {
  const strided::Plan plan = strided::make_plan(
      arrays, {outputs, std::vector(arrays.size(), Type::kFloat)}, {132, 2048});
  CHECK((plan.error == nullptr || plan.pieces.empty()));
  return plan.error ? plan.error : "";
}
strided::Array floats(uintptr_t at, const Sizes& sizes, const Sizes& strides) {
  return {at, Type::kFloat, sizes, strides};
}

}  // namespace

TEST_CASE("gpu_kernel refuses what is wrong, in a sentence, and does nothing") {
  const auto x = floats(1 << 20, {4, 5}, {5, 1});
  const auto with = [&](const strided::Array& y) { return refusal({y, x}); };
  CHECK(with(floats(1 << 21, {4, 5}, {5, 1})) == "");
  CHECK(with(floats(1 << 21, Sizes(26, 1), Sizes(26, 1))) ==
        "An array has more than 25 dimensions.");
  CHECK(with(floats(1 << 21, {4, 5}, {5})) ==
        "An array does not have a stride for each dimension.");
  CHECK(with(floats(1 << 21, {4, -5}, {5, 1})) ==
        "A dimension has a negative size.");
  CHECK(with(floats(1 << 21, {4, 5}, {-5, 1})) == "A stride is negative.");
  CHECK(with(floats(1 << 21, {4, 5}, {INT64_MAX / 4, 1})) ==
        "An array is larger than 64 bits can count.");
  CHECK(with(floats(1 << 21, {5, 4}, {4, 1})) ==
        "The arrays' shapes do not broadcast to the output's.");
  CHECK(with(floats(1 << 21, {5}, {1})) ==
        "The arrays' shapes do not broadcast to the output's.");
  CHECK(with(floats(0, {4, 5}, {5, 1})) == "An array is a null pointer.");
  CHECK(with(floats(0, {4, 0}, {5, 1})) ==
        "The arrays' shapes do not broadcast to the output's.");
  CHECK(refusal({floats(0, {4, 0}, {5, 1}), floats(0, {1, 1}, {1, 1})}) == "");
  CHECK(with(floats((1 << 21) + 2, {4, 5}, {5, 1})) ==
        "An array is not aligned to its elements.");
  CHECK(with(floats(1 << 21, {4, 5}, {0, 1})) ==
        "Elements of an output may share a place.");
  CHECK(with(floats(1 << 21, {4, 5}, {4, 1})) ==
        "Elements of an output may share a place.");
  CHECK(with(x) == "");
  CHECK(with(floats((1 << 20) + 4, {4, 5}, {5, 1})) ==
        "An output overlaps another array, and is not the same.");
  CHECK(with(floats(1 << 20, {4, 5}, {1, 4})) ==
        "An output overlaps another array, and is not the same.");
  CHECK(refusal({x, x, x}, 2) ==
        "An output overlaps another array, and is not the same.");

  const AnyStrided unknown{"add char", 0, 0, nullptr};
  CHECK(std::string(any_strided(&unknown, nullptr)) ==
        "There is no such function of so many arrays.");
  Case c = plain("add float", {40, 50}, std::vector(3, Type::kFloat));
  c.arrays[1].sizes = {50, 40};
  c.arrays[1].strides = {40, 1};
  Call call(c);
  CHECK(call.launch() != nullptr);
}

// ---- The planner ------------------------------------------------------------

namespace {

constexpr strided::Gpu kH200{132, 2048};

strided::Plan planned(const std::vector<Shaped>& shaped, int outputs = 1) {
  std::vector<strided::Array> arrays;
  strided::Kind kind{outputs, std::vector(shaped.size(), shaped[0].type)};
  uintptr_t at = uintptr_t{1} << 40;
  for (const Shaped& s : shaped) {
    arrays.push_back({at + s.offset * s.bytes(), s.type, s.sizes, s.strides});
    at += uintptr_t{1} << 40;
  }
  return make_plan(arrays, kind, kH200);
}
strided::Plan planned(Type type, const Sizes& sizes) {
  return planned({{type, sizes, dense(sizes)}, {type, sizes, dense(sizes)}});
}

}  // namespace

TEST_CASE("the planner splits where 32 bits do not reach") {
  constexpr int64_t k29 = int64_t{1} << 29;
  CHECK(planned(Type::kFloat, {k29}).pieces.size() == 1);
  CHECK(planned(Type::kFloat, {k29 + 1}).pieces.size() == 2);
  CHECK(planned(Type::kHalf, {2 * k29}).pieces.size() == 1);
  CHECK(planned(Type::kHalf, {2 * k29 + 1}).pieces.size() == 2);
  CHECK(planned(Type::kDouble, {k29 / 2 + 1}).pieces.size() == 2);
  CHECK(planned(Type::kInt8, {4 * k29 - 1}).pieces.size() == 1);
  CHECK(planned(Type::kInt8, {4 * k29}).pieces.size() == 2);
  CHECK(planned(
            {{Type::kFloat, {2, 3}, {3, 1}}, {Type::kFloat, {2, 3}, {k29, 1}}})
            .pieces.size() == 2);
  CHECK(planned(Type::kFloat, {1 << 20, 1 << 14}).pieces.size() == 32);
}

TEST_CASE("the pieces are all of it, and each once") {
  constexpr int64_t kMany = (int64_t{1} << 33) + 12'345;
  int64_t next = 0;
  for (const strided::Piece& piece : planned(Type::kHalf, {kMany}).pieces) {
    CHECK(piece.at[0] == (uintptr_t{1} << 40) + 2 * next);
    CHECK(piece.at[1] == (uintptr_t{2} << 40) + 2 * next);
    CHECK(fits_32_bits(piece));
    next += piece.count();
  }
  CHECK(next == kMany);
}

TEST_CASE("the planner joins what all arrays step through alike") {
  const auto rank = [](const Sizes& sizes, const Sizes& a, const Sizes& b) {
    return planned({{Type::kFloat, sizes, a}, {Type::kFloat, sizes, b}})
        .pieces[0]
        .dims.size();
  };
  CHECK(rank({4, 5, 6}, {30, 6, 1}, {30, 6, 1}) == 1);
  CHECK(rank({4, 5, 6}, {30, 6, 1}, {60, 12, 1}) == 2);
  CHECK(rank({4, 5, 6}, {30, 6, 1}, {0, 6, 1}) == 2);
  CHECK(rank({4, 5, 6}, {1, 4, 20}, {1, 4, 20}) == 1);
  CHECK(rank({4, 1, 6}, {6, 999, 1}, {6, 777, 1}) == 1);
  CHECK(rank({4, 5, 6}, {30, 6, 1}, {0, 0, 0}) == 1);
}

TEST_CASE("the planner cuts any stretch into the widest packs") {
  for (const Type type :
       {Type::kInt8, Type::kHalf, Type::kFloat, Type::kDouble}) {
    const Shaped plain = {type, {1000}, {1}};
    const int bytes = plain.bytes(), width = std::min(8, 16 / bytes);
    for (int64_t out = 0; out < 16; ++out) {
      for (int64_t in = 0; in < 16; ++in) {
        Shaped y = plain, x = plain;
        y.offset = out;
        x.offset = in;
        const strided::Piece piece = planned({y, x}).pieces[0];
        const auto late = [&](int64_t first) {
          return (first + piece.head) % width * bytes;
        };
        const bool shifts = (in - out) % width != 0;
        CHECK(piece.stretches);
        CHECK(piece.width == width);
        CHECK(piece.shift[1] == late(in));
        CHECK(late(out) == 0);
        CHECK(piece.head / width == (shifts ? 1 : 0));
        CHECK(piece.tail == (shifts ? width : 0));
      }
    }
  }
}

TEST_CASE("the planner cuts rows into the packs that begin them all") {
  const auto width = [](Type type, int64_t columns, int64_t pitch,
                        int64_t offset) {
    const Sizes rows = {10, columns};
    return planned(
               {{type, rows, dense(rows)}, {type, rows, {pitch, 1}, offset}})
        .pieces[0]
        .width;
  };
  CHECK(width(Type::kFloat, 8, 12, 0) == 4);
  CHECK(width(Type::kFloat, 8, 12, 2) == 2);
  CHECK(width(Type::kFloat, 8, 10, 0) == 2);
  CHECK(width(Type::kFloat, 8, 9, 0) == 1);
  CHECK(width(Type::kFloat, 6, 12, 0) == 2);
  CHECK(width(Type::kHalf, 16, 24, 8) == 8);
  CHECK(width(Type::kHalf, 16, 24, 4) == 4);
  CHECK(width(Type::kDouble, 4, 6, 0) == 2);
  CHECK(width(Type::kInt8, 32, 40, 16) == 8);
  const auto cast = [](Type in, int64_t pitch) {
    const Sizes rows = {10, 8};
    return planned({{Type::kFloat, rows, dense(rows)}, {in, rows, {pitch, 1}}})
        .pieces[0]
        .width;
  };
  CHECK(cast(Type::kHalf, 12) == 4);
  CHECK(cast(Type::kHalf, 10) == 1);
  CHECK(cast(Type::kInt8, 12) == 4);
  CHECK(cast(Type::kDouble, 9) == 1);
}

TEST_CASE("the planner gives outputs that lie differently no packs") {
  const Shaped even = {Type::kFloat, {1000}, {1}},
               odd = {Type::kFloat, {1000}, {1}, 1};
  const strided::Piece piece = planned({even, odd, even, even}, 2).pieces[0];
  CHECK_FALSE(piece.stretches);
  CHECK(piece.width == 1);
}
