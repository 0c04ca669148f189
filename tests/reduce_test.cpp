// What the reduction engine of chapter 12 must do, beside a reference on the
// host that reads one element after the other.
#include <map>
#include <numeric>
#include <set>

#include "chapters/12_reduce/plan.h"
#include "tests/any_reduce/any_reduce.h"
#include "tests/contract.h"
#include "tests/sixteen_bits.h"

namespace {

using namespace contract;
using reduction::kBlock, reduction::kMostDims, reduction::Shape;

using Sizes = std::vector<int64_t>;

// ---- What is asked ----------------------------------------------------------

struct Case {
  std::string what;
  Sizes sizes, strides;
  std::vector<int> dims;
  double parameter = 0;
  int64_t offset = 0, out_offset = 0;  // In elements, past 256-byte lines.
  bool wide = false;

  std::string op() const { return what.substr(0, what.find(' ')); }
  bool reduces(int d) const {
    return std::count(dims.begin(), dims.end(), d) > 0;
  }
  // Elements from the lowest address to the highest, and x[0, 0, ...] in them.
  int64_t extent() const {
    int64_t sum = 1;
    for (size_t d = 0; d < sizes.size(); ++d)
      sum += std::max<int64_t>(sizes[d] - 1, 0) * std::abs(strides[d]);
    return sum;
  }
  int64_t origin() const {
    int64_t sum = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (strides[d] < 0 && sizes[d] > 0) sum -= (sizes[d] - 1) * strides[d];
    return sum;
  }
};

std::string text(const Case& c) {
  std::string line = c.what + ", ";
  const auto add = [&](const char* name, const auto& values) {
    line += std::string(name) + " (";
    for (const auto v : values) line += std::to_string(v) + " ";
    line += ") ";
  };
  add("sizes", c.sizes);
  add("strides", c.strides);
  add("dims", c.dims);
  return line + "x at offset " + std::to_string(c.offset) + ", out at " +
         std::to_string(c.out_offset) + (c.wide ? ", 64-bit indices" : "");
}

Sizes dense(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t next = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = next;
    next *= sizes[d];
  }
  return strides;
}

Case plain(const std::string& what, const Sizes& sizes,
           const std::vector<int>& dims, double parameter = 0) {
  return {what, sizes, dense(sizes), dims, parameter};
}

// ---- What must come out -----------------------------------------------------

// Exactly `value`, or at most `slack` away from it.
struct Expected {
  long double value = 0, slack = 0;

  bool allows(long double got) const {
    if (std::isnan(value)) return std::isnan(got);
    if (std::isinf(value)) return got == value;
    return std::fabs(got - value) <= slack;
  }
};

using Numbers = std::vector<long double>;

long double sum_of(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0L);
}

template <class F>
Numbers each_of(Numbers numbers, F f) {
  for (long double& v : numbers) v = f(v);
  return numbers;
}

// What comes first: a NaN, or else what is better.
int64_t best_of(const Numbers& numbers, bool greatest) {
  int64_t best = 0;
  for (int64_t i = 1; i < std::ssize(numbers); ++i) {
    const long double a = numbers[best], b = numbers[i];
    if (std::isnan(a)) break;
    if (std::isnan(b) || (greatest ? b > a : b < a)) best = i;
  }
  return best;
}

// Each rounding of an accumulator costs `acc` of its size.
Expected judged(const Case& c, const Numbers& v, long double acc) {
  const std::string op = c.op();
  const long double n = v.size();
  const auto absolute = each_of(v, [](auto a) { return std::fabs(a); });
  const auto power = [&](long double p) {
    const auto powers =
        each_of(absolute, [&](auto a) { return std::pow(a, p); });
    const long double norm = std::pow(sum_of(powers), 1 / p);
    return Expected{norm, (n + 64) * acc * norm};
  };
  const bool exact = std::all_of(v.begin(), v.end(),
                                 [](auto a) { return a == std::floor(a); }) &&
                     sum_of(absolute) < 1 / acc;
  const Expected sum{sum_of(v), exact ? 0 : n * acc * sum_of(absolute)};

  if (op == "sum") return sum;
  if (op == "mean")
    return {sum.value / n, sum.slack / n + 2 * acc * std::fabs(sum.value / n)};
  if (op == "prod") {
    long double product = 1;
    for (const long double a : v) product *= a;
    return {product, acc * n * std::fabs(product)};
  }
  if (op == "min" || op == "max") return {v[best_of(v, op == "max")], 0};
  if (op == "argmin" || op == "argmax")
    return {static_cast<long double>(best_of(v, op == "argmax")), 0};
  if (op == "norm0") {
    const auto not_zero = each_of(v, [](auto a) { return a != 0; });
    return {sum_of(not_zero), 0};
  }
  if (op == "norm1") return {sum_of(absolute), n * acc * sum_of(absolute)};
  if (op == "norm2") return power(2);
  if (op == "normp") return power(c.parameter);
  if (op == "norminf")
    return {v.empty() ? 0 : absolute[best_of(absolute, true)], 0};
  const auto is_true = [](auto a) { return a != 0; };
  if (op == "any") return {1.0L * std::any_of(v.begin(), v.end(), is_true), 0};
  if (op == "all") return {1.0L * std::all_of(v.begin(), v.end(), is_true), 0};

  REQUIRE((op == "var" || op == "std"));
  const long double mean = sum.value / n;
  const auto squares =
      each_of(v, [&](auto a) { return (a - mean) * (a - mean); });
  const long double divisor = std::max(n - c.parameter, 0.0L);
  const long double var = sum_of(squares) / divisor;
  // The mean is rounded, too, in the course of it; errors of both signs.
  const long double slack =
      acc * ((n + 64) * var + 64 * std::sqrt(var) * std::fabs(mean)) + 1e-40L;
  if (op == "var") return {var, slack};
  return {std::sqrt(var), slack / std::max(std::sqrt(var), 1e-20L)};
}

// Of what is added up, and of what is written.
template <class T>
constexpr long double kRounding = std::is_same_v<T, Half>    ? 0x1p-11L
                                  : std::is_same_v<T, Brain> ? 0x1p-8L
                                  : std::is_same_v<T, float> ? 0x1p-24L
                                                             : 0x1p-53L;
template <class T>
constexpr long double kAccRounding =
    std::is_same_v<T, Half> || std::is_same_v<T, Brain> ? 0x1p-24L
                                                        : kRounding<T>;

// ---- A call -----------------------------------------------------------------

std::mt19937& bits() {
  static std::mt19937 generator(seed() + 12);
  return generator;
}
int64_t up_to(int64_t most) { return bits()() % (most + 1); }

// Small whole numbers for the most part: sums of them are exact.
template <class T>
T random_element(const Case& c) {
  const std::string op = c.op();
  long double v = up_to(16) - 8;
  if (op == "prod") v = up_to(2) == 0 ? -1 : up_to(4999) == 0 ? 2 : 1;
  if (op == "any") v = up_to(999) == 0;
  if (op == "all") v = up_to(999) != 0;
  const bool fraction = !std::is_integral_v<T> && c.sizes.size() % 2 == 0;
  if (fraction && op != "prod" && op != "any" && op != "all")
    v += up_to(1 << 20) * 0x1p-21L;
  if constexpr (std::is_same_v<T, Half>)
    return __float2half(v);
  else if constexpr (std::is_same_v<T, Brain>)
    return __float2bfloat16(v);
  else
    return static_cast<T>(v);
}

template <class T>
std::vector<T> random_memory(const Case& c) {
  std::vector<T> memory(c.extent());
  for (T& v : memory) v = random_element<T>(c);
  return memory;
}

// Calls f(first element, its result) for each result, in order.
template <class F>
void each_place(const Case& c, bool reduced, int64_t from, F f) {
  Sizes at(c.sizes.size());
  for (size_t d = 0; d < at.size(); ++d)
    if (c.reduces(d) == reduced && c.sizes[d] == 0) return;
  while (true) {
    int64_t place = from;
    for (size_t d = 0; d < at.size(); ++d) place += at[d] * c.strides[d];
    f(place);
    int d = static_cast<int>(at.size()) - 1;
    for (; d >= 0; --d) {
      if (c.reduces(d) != reduced) continue;
      if (++at[d] < c.sizes[d]) break;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

constexpr unsigned char kByte = 0xa5;  // In whatever is not to be written.
constexpr int64_t kLine = 256;

// Memory on the device, between lines that must stay as they are.
class Guarded {
 public:
  Guarded(int64_t bytes, int64_t offset)
      : begin_(kLine + offset), end_(begin_ + bytes) {
    const std::vector<unsigned char> before(end_ + kLine, kByte);
    memory_ = std::make_unique<DeviceArray<unsigned char>>(before);
  }
  unsigned char* data() const { return memory_->data() + begin_; }
  std::vector<unsigned char> to_host() const {
    const auto all = memory_->to_host();
    for (int64_t i = 0; i < std::ssize(all); ++i)
      if ((i < begin_ || i >= end_) && all[i] != kByte) harmed_ = true;
    return {all.begin() + begin_, all.begin() + end_};
  }
  bool harmed() const { return harmed_; }

 private:
  int64_t begin_, end_;
  std::unique_ptr<DeviceArray<unsigned char>> memory_;
  mutable bool harmed_ = false;
};

int64_t results_of(const Case& c) {
  int64_t count = 1;
  for (size_t d = 0; d < c.sizes.size(); ++d)
    if (!c.reduces(d)) count *= c.sizes[d];
  return count;
}

// A call on memory of its own; R is what it writes.
template <class T, class R>
class Call {
 public:
  Call(const Case& c, std::vector<T> memory)
      : case_(c),
        memory_(std::move(memory)),
        x_(c.offset + std::ssize(memory_)),
        out_(results_of(c) * sizeof(R), c.out_offset * sizeof(R)),
        asked_{case_.what.c_str(),
               case_.parameter,
               static_cast<int>(case_.sizes.size()),
               static_cast<int>(case_.dims.size()),
               case_.sizes.data(),
               case_.strides.data(),
               case_.dims.data(),
               x_.data() + c.offset + c.origin(),
               out_.data(),
               case_.wide},
        needed_(any_reduce_scratch(&asked_, &cleared_)),
        scratch_(needed_, 0) {
    CUDA_CHECK(cudaMemcpy(x_.data() + c.offset, memory_.data(),
                          memory_.size() * sizeof(T), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(scratch_.data(), 0, cleared_));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  Call(const Call&) = delete;

  const char* launch(cudaStream_t stream = nullptr) {
    return any_reduce(&asked_, scratch_.data(), needed_, stream);
  }
  std::vector<R> results() const {
    const auto bytes = out_.to_host();
    std::vector<R> results(bytes.size() / sizeof(R));
    std::memcpy(static_cast<void*>(results.data()), bytes.data(), bytes.size());
    return results;
  }
  int64_t cleared() const { return cleared_; }
  // Streams of ours and the default one, which does it, do not wait for each
  // other.
  void forget() const {
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemset(out_.data(), kByte, results_of(case_) * sizeof(R)));
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  // The first thing that is wrong, or nothing.
  std::string trouble() {
    if (const char* error = launch()) return std::string("refused: ") + error;
    const auto first = out_.to_host();
    if (const std::string wrong = wrong_result(); !wrong.empty()) return wrong;
    forget();
    launch();
    if (out_.to_host() != first) return "the second run gave other bits";
    scratch_.to_host();
    if (out_.harmed() || scratch_.harmed()) return "it wrote where it may not";
    const auto counters = scratch_.to_host();
    for (int64_t i = 0; i < cleared_; ++i)
      if (counters[i] != 0) return "a counter is not 0 afterwards";
    std::vector<T> now(memory_.size());
    CUDA_CHECK(cudaMemcpy(now.data(), x_.data() + case_.offset,
                          now.size() * sizeof(T), cudaMemcpyDeviceToHost));
    if (std::memcmp(now.data(), memory_.data(), now.size() * sizeof(T)))
      return "it changed its input";
    return "";
  }

  std::string wrong_result() const {
    const std::vector<R> got = results();
    std::string wrong;
    int64_t i = 0;
    each_place(case_, false, case_.origin(), [&](int64_t row) {
      const int64_t result = i++;
      if (!wrong.empty()) return;
      Numbers numbers;
      each_place(case_, true, row,
                 [&](int64_t at) { numbers.push_back(number(memory_[at])); });
      Expected expected = judged(case_, numbers, kAccRounding<T>);
      constexpr long double kKept = kAccRounding<T>, kWritten = kRounding<R>;
      if (kWritten > kKept)
        expected.slack += kWritten * std::fabs(expected.value) + 0x1p-24L;
      if (!std::is_same_v<R, double> && case_.op() == "mean")
        expected.slack += 0x1p-24L * std::fabs(expected.value);
      if (expected.allows(number(got[result]))) return;
      if (std::is_same_v<R, Half> && std::fabs(expected.value) > 65'000 &&
          std::isinf(number(got[result])))
        return;  // No half is so great.
      char line[160];
      std::snprintf(line, sizeof line,
                    "result %lld: expected %.12Lg, give or take %.3Lg, got "
                    "%.12Lg",
                    static_cast<long long>(result), expected.value,
                    expected.slack, number(got[result]));
      wrong = line;
    });
    return wrong;
  }

 private:
  const Case case_;
  const std::vector<T> memory_;
  DeviceArray<T> x_;
  Guarded out_;
  const AnyReduction asked_;
  int64_t cleared_ = 0;
  const int64_t needed_;
  Guarded scratch_;
};

template <class T, class R>
void check_on(const Case& c, std::vector<T> memory) {
  const std::string trouble = Call<T, R>(c, std::move(memory)).trouble();
  if (!trouble.empty()) FAIL_CHECK(text(c), "\n  ", trouble);
}
template <class T, class R>
void check_case(const Case& c) {
  check_on<T, R>(c, random_memory<T>(c));
}

const std::map<std::string, void (*)(const Case&)> kChecks = {
    {"sum float", check_case<float, float>},
    {"sum double", check_case<double, double>},
    {"sum half", check_case<Half, Half>},
    {"sum half to float", check_case<Half, float>},
    {"sum bfloat16", check_case<Brain, Brain>},
    {"sum int8", check_case<int8_t, int64_t>},
    {"sum int16", check_case<int16_t, int64_t>},
    {"sum int32", check_case<int32_t, int64_t>},
    {"sum int64", check_case<int64_t, int64_t>},
    {"mean float", check_case<float, float>},
    {"mean half", check_case<Half, Half>},
    {"mean int8", check_case<int8_t, double>},
    {"prod float", check_case<float, float>},
    {"prod int32", check_case<int32_t, int64_t>},
    {"min float", check_case<float, float>},
    {"max float", check_case<float, float>},
    {"max half", check_case<Half, Half>},
    {"min int8", check_case<int8_t, int8_t>},
    {"max int64", check_case<int64_t, int64_t>},
    {"argmin float", check_case<float, int64_t>},
    {"argmax float", check_case<float, int64_t>},
    {"argmax bfloat16", check_case<Brain, int64_t>},
    {"argmin int32", check_case<int32_t, int64_t>},
    {"norm0 float", check_case<float, float>},
    {"norm1 float", check_case<float, float>},
    {"norm2 float", check_case<float, float>},
    {"norm2 half", check_case<Half, Half>},
    {"normp float", check_case<float, float>},
    {"norminf float", check_case<float, float>},
    {"any float", check_case<float, uint8_t>},
    {"any int8", check_case<int8_t, uint8_t>},
    {"all float", check_case<float, uint8_t>},
    {"all int16", check_case<int16_t, uint8_t>},
    {"var float", check_case<float, float>},
    {"std float", check_case<float, float>},
    {"var double", check_case<double, double>},
    {"var half", check_case<Half, Half>},
    {"var int32", check_case<int32_t, double>},
};

void check(const Case& c) { kChecks.at(c.what)(c); }

// Of one to `most`, each power of two as likely as the others; round or not.
int64_t some_size(int64_t most) {
  const int64_t size = 1 + up_to(std::min(most, int64_t{1} << up_to(17)) - 1);
  return up_to(1) || size < 16 ? size : size / 16 * 16;
}

Case case_of(const std::string& what) {
  Case c;
  c.what = what;
  c.parameter = c.op() == "normp" ? 3 : 1;
  return c;
}

// None of its dimensions can be joined with another: every index is divided.
Case wide_case(const std::string& what) {
  Case c = case_of(what);
  c.sizes = {4, 3, 5, 2};
  c.strides = {11, 60, 2, 1};
  c.dims = {1, 3};
  c.wide = true;
  return c;
}

Case random_case(const std::string& what) {
  Case c = case_of(what);
  int64_t left = up_to(3) == 0 ? 100'000 : 10'000;
  for (int rank = up_to(4) == 0 ? up_to(kMostDims) : 1 + up_to(2); rank > 0;
       --rank) {
    const int64_t size = some_size(rank == 1 ? left : std::sqrt(left));
    left /= size;
    c.sizes.insert(c.sizes.begin() + up_to(c.sizes.size()), size);
  }
  const int rank = static_cast<int>(c.sizes.size());
  for (int d = 0; d < rank; ++d)
    if (up_to(1)) c.dims.push_back(d);
  c.strides = dense(c.sizes);
  if (up_to(1)) {  // In any order, with gaps, backwards, or repeated.
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), bits());
    int64_t next = 1;
    for (const int d : order) {
      c.strides[d] =
          up_to(7) == 0 ? 0 : next * (up_to(5) == 0 ? 1 + up_to(4) : 1);
      if (up_to(5) == 0) c.strides[d] = -c.strides[d];
      if (c.strides[d] != 0) next = std::abs(c.strides[d]) * c.sizes[d];
      if (next > 200'000) next = 1;  // Elements may have several places.
    }
  }
  if (up_to(1)) c.offset = up_to(7);
  if (up_to(3) == 0) c.out_offset = up_to(3);
  c.wide = up_to(3) == 0;
  return c;
}

// What reduction::reduce() says, where nothing has to be right.
struct Bad {
  std::string what = "sum float";
  Sizes sizes = {4, 5}, strides = {5, 1};
  std::vector<int> dims = {1};
  bool x = true, out = true, scratch = true;
  int64_t x_bytes = 0, scratch_offset = 0, scratch_bytes = 1 << 20;

  // What the engine says to it.
  std::string answer(const Guarded& written) const {
    const DeviceArray<float> in(Floats(1 << 16)), lent(Floats(1 << 18));
    const AnyReduction asked{
        what.c_str(),
        1,
        static_cast<int>(sizes.size()),
        static_cast<int>(dims.size()),
        sizes.data(),
        strides.data(),
        dims.data(),
        x ? reinterpret_cast<char*>(in.data()) + x_bytes : nullptr,
        out ? written.data() : nullptr,
        false};
    char* const place = reinterpret_cast<char*>(lent.data()) + scratch_offset;
    const char* got =
        any_reduce(&asked, scratch ? place : nullptr, scratch_bytes, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    return got ? got : "nothing";
  }
  void is_refused(const std::string& sentence) const {
    const Guarded written(64, 0);
    CHECK(answer(written) == sentence);
    for (const unsigned char byte : written.to_host()) REQUIRE(byte == kByte);
  }
};

}  // namespace

TEST_CASE("reduce handles random shapes, strides, dimensions and types") {
  MESSAGE("CHECK_SEED=" << seed());
  for (int round = 0; round < rounds(20); ++round)
    for (const auto& [what, run] : kChecks) run(random_case(what));
}

TEST_CASE("reduce divides indices of 64 bits") {
  for (const auto& [what, run] : kChecks) run(wide_case(what));
}

TEST_CASE("reduce handles every length of a row") {
  const Setting hurry{"SIMT_CHECKS", "off"};  // Longer rows have shown races.
  constexpr int64_t kMost = 4100;
  Floats values(kMost + 8);
  for (float& v : values) v = up_to(16) - 8;
  const DeviceArray<float> x(values), out(1);
  const int64_t stride = 1;
  const int dim = 0;
  for (int64_t n = 1; n <= kMost; ++n) {
    const int64_t offset = n % 8;
    const AnyReduction asked{"sum float", 0,       1,    1,
                             &n,          &stride, &dim, x.data() + offset,
                             out.data(),  false};
    REQUIRE(any_reduce(&asked, nullptr, 0, nullptr) == nullptr);
    const auto first = values.begin() + offset;
    const float sum = std::accumulate(first, first + n, 0.f);
    const float got = out.to_host()[0];
    if (got == sum) continue;
    FAIL("n = ", n, ", x at offset ", offset, ": expected ", sum, ", got ",
         got);
  }
}

TEST_CASE("reduce handles every offset, in rows and columns") {
  for (int64_t offset = 0; offset < 8; ++offset) {
    for (const char* what : {"sum float", "argmax float", "sum half to float",
                             "sum int8", "var double"}) {
      for (const int64_t n : {37, 261, 1030}) {
        for (const int dim : {0, 1}) {
          Case c = plain(what, dim ? Sizes{5, n} : Sizes{n, 8}, {dim}, 1);
          c.offset = offset;
          c.out_offset = offset / 2;
          check(c);
          c.strides[0] += 3;  // Each row is aligned in its own way.
          check(c);
        }
      }
    }
  }
}

TEST_CASE("reduce shares long rows and columns between blocks") {
  for (const char* what : {"sum float", "argmin float", "argmax float",
                           "var float", "sum int8", "norm2 half"}) {
    check(plain(what, {200'003}, {0}, 1));
    check(plain(what, {3, 70'001}, {1}, 1));
    check(plain(what, {20'000, 12}, {0}, 1));
    check(plain(what, {20'001, 3}, {0}, 1));
    check(plain(what, {3000, 128}, {0}, 1));  // More parts than members.
    check(plain(what, {3000, 8, 40}, {0, 2}, 1));
  }
}

TEST_CASE("reduce handles broadcast, reversed and sparse arrays") {
  for (const char* what :
       {"sum float", "argmin float", "max half", "mean int8", "std float"}) {
    for (const std::vector<int>& dims :
         std::vector<std::vector<int>>{{0}, {1}, {0, 1}, {}}) {
      const auto strided = [&](const Sizes& sizes, const Sizes& strides) {
        check({what, sizes, strides, dims, 0});
      };
      strided({40, 50}, {0, 1});
      strided({40, 50}, {1, 0});
      strided({40, 50}, {0, 0});
      strided({40, 50}, {-50, -1});
      strided({40, 50}, {1, -40});
      strided({40, 50}, {150, 3});
      strided({40, 50}, {3, 120});
      strided({40, 64}, {128, 1});
    }
  }
}

TEST_CASE("reduce lets NaN win, and says where the first is") {
  for (const char* what : {"min float", "max float", "argmin float",
                           "argmax float", "norminf float", "sum float"}) {
    for (const int64_t n : {5, 100, 3001, 50'000}) {
      const Case c = plain(what, {n}, {0});
      for (const int64_t place : {int64_t{0}, n / 2, n - 1}) {
        Floats values = random(n);
        values[place] = kNan;
        values[n - 1] = kNan;
        if (c.what[0] == 'a') {
          check_on<float, int64_t>(c, values);
        } else {
          check_on<float, float>(c, values);
        }
      }
    }
  }
}

TEST_CASE("reduce gives a tie to the lowest index") {
  for (const int64_t n : {2, 33, 1000, 5000, 100'000}) {
    for (const char* what : {"argmin float", "argmax float"}) {
      check_on<float, int64_t>(plain(what, {n}, {0}), Floats(n, 7.f));
      check_on<float, int64_t>(plain(what, {n, 4}, {0}), Floats(4 * n, 7.f));
      Floats few = random(n);
      for (int64_t i = n / 3; i < n; i += 3) few[i] = what[3] == 'i' ? -5 : 5;
      check_on<float, int64_t>(plain(what, {n}, {0}), few);
    }
  }
}

TEST_CASE("reduce keeps infinities and denormal numbers") {
  const float least = Limits::denorm_min();
  for (const int64_t n : {9, 700, 40'000}) {
    for (const char* what : {"sum float", "min float", "max float",
                             "norm1 float", "norminf float", "mean float"}) {
      const Case c = plain(what, {n}, {0});
      for (const float other : {0.f, kInf, -kInf}) {
        Floats values = random(n);
        values[n / 2] = kInf;
        values[n - 1] = other;
        check_on<float, float>(c, values);
      }
      if (c.op() != "mean") check_on<float, float>(c, Floats(n, -least));
    }
    check_on<float, float>(plain("norm0 float", {n}, {0}), Floats(n, least));
    check_on<float, uint8_t>(plain("any float", {n}, {0}), Floats(n, kNan));
    check_on<float, int64_t>(plain("argmin float", {n}, {0}), Floats(n, kInf));
    check_on<float, int64_t>(plain("argmax float", {n}, {0}), Floats(n, -kInf));
  }
}

TEST_CASE("reduce finds the variance of numbers far from 0") {
  for (const int64_t n : {1, 2, 3, 40, 513, 30'000}) {
    for (const double correction : {0., 1.}) {
      Floats values = random(n);
      for (float& v : values) v += 10'000.f;
      check_on<float, float>(plain("var float", {n}, {0}, correction), values);
      check_on<float, float>(plain("std float", {n}, {0}, correction), values);
    }
  }
}

TEST_CASE("reduce takes several elements at once, in rows and columns") {
  for (const int64_t n : {15, 16, 17, 130, 700}) {
    for (const bool columns : {false, true}) {
      const Sizes sizes = columns ? Sizes{n, 8} : Sizes{8, n};
      const std::vector<int> dims = {columns ? 0 : 1};
      check_case<int8_t, int64_t>(plain("sum int8", sizes, dims));
      check_case<int8_t, double>(plain("mean int8", sizes, dims));
      check_case<Half, Half>(plain("var half", sizes, dims, 1));
    }
  }
}

TEST_CASE("reduce handles results of one element each") {
  for (int64_t offset = 0; offset < 4; ++offset) {
    for (const auto& [what, run] : kChecks) {
      Case c = plain(what, {7, 1, 24}, {1}, 2);
      c.offset = offset;
      c.out_offset = offset / 2;
      run(c);
      c.strides = {72, 5, 3};
      run(c);
      c.strides = {25, 3, 1};
      run(c);
      c.strides = {1, 0, 9};
      run(c);
    }
  }
}

TEST_CASE("reduce of nothing gives what changes nothing") {
  const auto of_nothing = [](const std::string& what, auto zero) {
    using R = decltype(zero);
    Call<float, R> call(plain(what, {3, 0, 2}, {1}, 1), {0.f});
    REQUIRE(call.launch() == nullptr);
    return call.results();
  };
  for (const float sum : of_nothing("sum float", 0.f)) CHECK(sum == 0);
  for (const float one : of_nothing("prod float", 0.f)) CHECK(one == 1);
  for (const float norm : of_nothing("norm2 float", 0.f)) CHECK(norm == 0);
  for (const char* what : {"mean float", "var float", "std float"})
    for (const float nan : of_nothing(what, 0.f)) CHECK(std::isnan(nan));
  for (const auto any : of_nothing("any float", uint8_t{})) CHECK(any == 0);
  for (const auto all : of_nothing("all float", uint8_t{})) CHECK(all == 1);
}

TEST_CASE("reduce writes nothing where there is no result") {
  for (const char* what : {"sum float", "argmax float"}) {
    Call<float, int64_t> call(plain(what, {0, 5}, {1}), {0.f});
    CHECK(call.launch() == nullptr);
    CHECK(call.results().empty());
    CHECK(call.trouble().empty());
  }
}

TEST_CASE("reduce refuses what is wrong, in a sentence, and does nothing") {
  Bad{.what = "sum char"}.is_refused("There is no such operation.");
  Bad{.sizes = Sizes(9, 1), .strides = Sizes(9, 1)}.is_refused(
      "x has more than 8 dimensions.");
  Bad{.sizes = {4, -5}}.is_refused("A dimension of x has a negative size.");
  Bad{.sizes = {int64_t{1} << 40, int64_t{1} << 40}}.is_refused(
      "x has more elements than 64 bits can count.");
  Bad{.dims = {1, 0, 1}}.is_refused("A dimension to reduce is named twice.");
  Bad{.dims = {2}}.is_refused("x has no such dimension to reduce.");
  Bad{.dims = {-1}}.is_refused("x has no such dimension to reduce.");
  for (const char* what : {"min float", "max half", "argmin float"})
    Bad{.what = what, .sizes = {4, 0}}.is_refused(
        "There is no such result of no elements.");
  Bad{.sizes = {int64_t{1} << 62, 1}, .strides = {0, 1}}.is_refused(
      "A grid has too few blocks for so many results.");
  Bad{.x = false}.is_refused("x is a null pointer.");
  Bad{.out = false}.is_refused("out is a null pointer.");
  Bad{.x_bytes = 2}.is_refused("x or out is not aligned to its elements.");

  const Bad large{.sizes = {40'000}, .strides = {1}, .dims = {0}};
  Bad none = large, little = large, crooked = large;
  none.scratch = false;
  none.is_refused("scratch is a null pointer.");
  little.scratch_bytes = 15;
  little.is_refused("There is too little scratch.");
  crooked.scratch_offset = 2;
  crooked.is_refused("scratch is not aligned for what a block leaves there.");
  Bad columns{.sizes = {40'000, 8}, .strides = {8, 1}, .dims = {0}};
  columns.scratch_offset = 8;  // Four sums leave in one store.
  columns.is_refused("scratch is not aligned for what a block leaves there.");
  Bad needless;  // Nothing is left there.
  needless.scratch_offset = 2;
  CHECK(needless.answer(Guarded(64, 0)) == "nothing");
}

TEST_CASE("reduce leaves its counters ready for the next call") {
  const Case c = plain("sum float", {5, 50'000}, {1});
  Floats values(250'000, 1.f);
  Call<float, float> call(c, values);
  CHECK(call.cleared() > 0);
  for (int run = 0; run < 3; ++run) {
    call.forget();
    REQUIRE(call.launch() == nullptr);
    for (const float sum : call.results()) CHECK(sum == 50'000.f);
  }
}

TEST_CASE("reduce serves two streams at once, and a CUDA graph") {
  const Stream one, two;
  Call<float, float> first(plain("sum float", {100'000}, {0}),
                           Floats(100'000, 1.f));
  Call<float, float> second(plain("max float", {30'000, 4}, {0}),
                            Floats(120'000, 3.f));
  for (int run = 0; run < 3; ++run) {
    first.forget();
    second.forget();
    first.launch(one);
    second.launch(two);
  }
  one.finish();
  two.finish();
  CHECK(first.results() == Floats{100'000.f});
  CHECK(second.results() == Floats(4, 3.f));

  struct Again {
    Call<float, float>& call;
    void launch(cudaStream_t stream) const {
      REQUIRE(call.launch(stream) == nullptr);
    }
  };
  const Recording recording(Again{first}, "reduce()", one);
  REQUIRE(recording.succeeded());
  CHECK_FALSE(recording.has_host_work());
  for (int run = 0; run < 3; ++run) {
    first.forget();
    recording.replay();
  }
  CHECK(first.results() == Floats{100'000.f});
}

TEST_CASE("reduce handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const int64_t n = (int64_t{1} << 31) + 5, stride = 1;
  if (!has_memory(n)) return;
  const DeviceArray<int8_t> x(n);
  const DeviceArray<int64_t> out(1);
  CUDA_CHECK(cudaMemset(x.data(), 1, n));
  const int8_t least = -3;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 2, &least, 1, cudaMemcpyHostToDevice));
  const int dim = 0;
  const AnyReduction asked{"sum int8", 0,    1,        1,          &n,
                           &stride,    &dim, x.data(), out.data(), false};
  int64_t cleared = 0;
  const int64_t bytes = any_reduce_scratch(&asked, &cleared);
  const DeviceArray<int64_t> scratch(std::vector<int64_t>(bytes / 8));
  REQUIRE(any_reduce(&asked, scratch.data(), bytes, nullptr) == nullptr);
  CHECK(out.to_host()[0] == n - 4);
}

// ---- The planner ------------------------------------------------------------

namespace {

constexpr reduction::Gpu kH200{132, 2048};
constexpr reduction::Kind kFloats{4, 4, 4, false, false};

struct Golden {
  Sizes sizes;
  std::vector<int> dims;
  int along, across, members, teams;
  int64_t grid_x, grid_y;
  const char* pytorch;  // Its block and grid, and why ours differs.
};

// PyTorch's for 132 SMs are what its setReduceConfig() computes.
const Golden kGolden[] = {
    {{1 << 24},
     {0},
     4,
     1,
     512,
     1,
     1,
     264,
     "(512, 1) (1, 528): ours has as many blocks as fit at once"},
    {{1 << 28},
     {0},
     4,
     1,
     512,
     1,
     1,
     264,
     "(512, 1) (1, 2048): the last block of ours has an eighth of the parts "
     "to read"},
    {{4096, 4096},
     {1},
     4,
     1,
     32,
     4,
     1024,
     1,
     "(32, 16) (256, 1): 256 blocks leave a SM one or two; ours are many and "
     "small"},
    {{4096, 4096},
     {0},
     1,
     4,
     8,
     32,
     32,
     16,
     "(32, 4) (32, 64): four times as many parts to write and read again"},
    {{1760, 6288},
     {1},
     4,
     1,
     64,
     2,
     880,
     1,
     "(32, 16) (110, 1): 110 blocks leave SMs idle; all of ours fit at once"},
    {{200'000, 800},
     {1},
     4,
     1,
     16,
     8,
     25000,
     1,
     "(32, 16) (12500, 1): results in plenty, so that a member of ours has "
     "more than three rounds"},
    {{1024, 100},
     {1},
     4,
     1,
     8,
     4,
     256,
     1,
     "(32, 16) (64, 1), one float per load: 64 blocks leave half of the SMs "
     "idle"},
    {{8, 1'000'003}, {1}, 4, 1, 512, 1, 8, 33, "(64, 8) (8, 66)"},
    {{1'000'000, 8},
     {1},
     4,
     1,
     1,
     128,
     7813,
     1,
     "(8, 64) (15625, 1), one float per load: ours has 32 bytes per thread "
     "and no tree"},
    {{1 << 20, 16},
     {0},
     1,
     4,
     128,
     4,
     1,
     264,
     "(4, 32) (1, 2048): ours has an eighth of the parts"},
};

reduction::Plan planned(const Sizes& sizes, const std::vector<int>& dims,
                        const reduction::Kind& kind = kFloats,
                        const reduction::Places& at = {0, 0}) {
  return make_plan({sizes, dense(sizes)}, dims, kind, at, kH200);
}

}  // namespace

TEST_CASE("the planner's golden plans for 132 SMs") {
  for (const Golden& golden : kGolden) {
    const reduction::Plan plan = planned(golden.sizes, golden.dims);
    INFO(golden.sizes.front(), " ... over ", golden.dims.front());
    CHECK(plan.along == golden.along);
    CHECK(plan.across == golden.across);
    CHECK(plan.members == golden.members);
    CHECK(plan.teams == golden.teams);
    CHECK(plan.grid_x == golden.grid_x);
    CHECK(plan.grid_y == golden.grid_y);
    CHECK_FALSE(plan.wide);
  }
}

TEST_CASE("the planner chooses loads by alignment") {
  const auto along = [](const Sizes& sizes, uintptr_t x) {
    return planned(sizes, {1}, kFloats, {x, 0}).along;
  };
  CHECK(along({100, 8}, 0) == 4);
  CHECK(along({100, 8}, 4) == 1);  // Each row would begin within a pack.
  CHECK(along({100, 10}, 0) == 1);
  CHECK(along({100, 31}, 0) == 1);
  CHECK(along({100, 33}, 4) == 4);  // Long enough to leave out the ends.
  const auto across = [](const Sizes& sizes, uintptr_t x, uintptr_t out) {
    return planned(sizes, {0}, kFloats, {x, out}).across;
  };
  CHECK(across({100, 8}, 0, 0) == 4);
  CHECK(across({100, 8}, 4, 0) == 1);
  CHECK(across({100, 8}, 0, 4) == 1);
  CHECK(across({100, 10}, 0, 0) == 1);
}

TEST_CASE("the planner counts in 64 bits where 32 are too few") {
  constexpr int64_t kMany = int64_t{1} << 31;
  CHECK(planned({kMany}, {0}).wide);
  CHECK(planned({kMany, 1}, {1}).wide);
  CHECK(planned({1 << 16, 1 << 15}, {0}).wide);
  CHECK_FALSE(planned({1 << 30}, {0}).wide);
  const Sizes few = {2, 3};
  const auto wide = [&](int64_t stride) {
    return make_plan({few, {stride, 1}}, {1}, kFloats, {0, 0}, kH200).wide;
  };
  CHECK_FALSE(wide(1 << 30));
  CHECK(wide(kMany));
  CHECK(wide(-kMany));
  // x is small, since it is repeated, and its results are many.
  CHECK(
      make_plan({{524'289, 2, 4096}, {0, 4096, 1}}, {1}, kFloats, {0, 0}, kH200)
          .wide);
}

TEST_CASE("the planner wants a stride for each dimension") {
  const auto plan = make_plan({{4, 5}, {1}}, {1}, kFloats, {0, 0}, kH200);
  CHECK(std::string(plan.error) ==
        "x does not have a stride for each dimension.");
}

TEST_CASE("the planner joins what is one stretch of memory") {
  const auto plan = planned({4, 5, 6, 7}, {2, 3});
  CHECK(plan.reduced.rank == 1);
  CHECK(plan.kept.rank == 1);
  CHECK(plan.n == 42);
  CHECK(planned({4, 5, 6, 7}, {0, 2}).reduced.rank == 2);
  CHECK(planned({4, 1, 6, 1}, {0, 2}).reduced.rank == 1);
}

// Whatever the shape: whole warps, powers of two, and a place for every part.
TEST_CASE("the planner keeps its own rules") {
  for (int round = 0; round < 5000; ++round) {
    const Case c = random_case("sum float");
    const reduction::Kind kind{1 << up_to(3), 1 << up_to(3), 4 << up_to(2),
                               up_to(1) == 0, false};
    const reduction::Gpu gpu{static_cast<int>(1 + up_to(200)), 2048};
    const auto plan = make_plan({c.sizes, c.strides}, c.dims, kind,
                                {256 + 4 * bits()() % 16, 256}, gpu);
    INFO(text(c));
    REQUIRE(plan.error == nullptr);
    const int block = plan.members * plan.teams;
    REQUIRE(block % 32 == 0);
    REQUIRE(block <= kBlock);
    REQUIRE(std::has_single_bit(unsigned(block)));
    REQUIRE((plan.apart == 1 || plan.apart == plan.teams));
    REQUIRE((plan.along == 1 || plan.across == 1));
    REQUIRE(plan.grid_x * plan.teams >= plan.kept.count);
    REQUIRE((plan.grid_x - 1) * plan.teams < plan.kept.count);
    const int64_t parts = plan.grid_x * plan.grid_y * plan.teams * plan.across;
    REQUIRE(
        plan.scratch_bytes ==
        (plan.grid_y > 1 ? plan.counter_bytes + parts * kind.acc_bytes : 0));
    REQUIRE(plan.counter_bytes >= (plan.grid_y > 1 ? 4 * plan.grid_x : 0));
    const int64_t room = int64_t{gpu.sms} * gpu.threads_per_sm / block;
    REQUIRE((plan.grid_y == 1 || plan.grid_x * plan.grid_y <= room));
  }
}
