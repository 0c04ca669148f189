// What every sum() must do, whichever file defines it.
#include "common/sum.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>

#include "tests/contract.h"

namespace {

using namespace contract;

// Where a warp, a block or a tile ends.
constexpr int64_t kShort[] = {0,    1,    2,    3,    31,   32,   33,   63,
                              64,   65,   127,  128,  129,  255,  256,  257,
                              511,  512,  513,  1023, 1024, 1025, 2047, 2048,
                              2049, 4095, 4096, 4097, 8191, 8192, 8193};
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kMillion = 1 << 20;

// Around and in whatever sum() has to leave alone or to write first: one of
// these in a sum, and the sum is a NaN.
const float kPoison = std::bit_cast<float>(0xffffffff);

// Half the last bit of 1: a sum of 1 and one grain is 1.
constexpr float kGrain = 0x1p-24f;

// Whole numbers but 0, so that one more or one less is noticed. Up to 1.8
// million of them can be added in any order without rounding.
Floats whole(int64_t n) {
  Floats values = random(n, 1.f, 17.f);
  for (float& v : values) v = std::floor(v);
  return values;
}

// The sum, and how far from it sum() may be.
struct Reference {
  long double exact = 0, magnitude = 0;
  bool whole = true;

  void add(float v, int64_t times = 1) {
    exact += static_cast<long double>(v) * times;
    magnitude += std::fabs(static_cast<long double>(v)) * times;
    whole = whole && v == std::floor(v);
  }
  long double slack(int64_t n) const {
    if (whole && magnitude <= 0x1p24L) return 0;
    const auto [depth, same_bits, denormals] = sum_promise(n);
    // An addition that flushes may lose both of its numbers, each below 2^-126.
    return depth * (0x1p-24L * magnitude + (denormals ? 0 : 0x1p-125L));
  }
  bool allows(int64_t n, float got) const {
    if (std::isnan(exact)) return std::isnan(got);
    if (std::isinf(exact)) return got == exact;
    return std::fabs(got - exact) <= slack(n);
  }
};

Reference reference(const Floats& values) {
  Reference sum;
  for (const float v : values) sum.add(v);
  return sum;
}

std::string text(const Reference& sum, int64_t n) {
  char line[96];
  std::snprintf(line, sizeof line, "%.12Lg, give or take %.3Lg", sum.exact,
                sum.slack(n));
  return line;
}

// Calls of sum(), each on memory of its own, among words it has to leave alone.
class Calls {
 public:
  // Each starts so many floats behind a 256-byte boundary.
  void add(const Floats& values, int64_t x_offset = 0, int64_t out_offset = 0,
           int64_t scratch_offset = 0) {
    const auto n = static_cast<int64_t>(values.size());
    const Floats lent(sum_scratch_floats(n));
    calls_.push_back({n, x_offset, x_.add(values, x_offset),
                      out_.add({0.f}, out_offset),
                      scratch_.add(lent, scratch_offset), reference(values)});
  }

  void prepare() {
    x_.upload();
    out_.upload();
    scratch_.upload();
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      sum(x_.at(call.x), out_.at(call.out), call.n, scratch_.at(call.scratch),
          stream);
    }
  }

  bool untouched() const { return out_.untouched() && scratch_.untouched(); }

  void check() const {
    CHECK_MESSAGE(x_.unchanged(), "sum() changed its input");
    check_guards(out_, "out");
    check_guards(scratch_, "scratch");
    for (size_t i = 0; i < calls_.size(); ++i) {
      const auto& [n, x_offset, x, out, scratch, expected] = calls_[i];
      if (expected.allows(n, result(i))) continue;
      FAIL_CHECK("n = ", n, ", x at offset ", x_offset, ": expected ",
                 text(expected, n), ", got ", contract::text(result(i)));
      return;
    }
  }

  float result(size_t i) const {
    float got = 0.f;
    CUDA_CHECK(cudaMemcpy(&got, out_.at(calls_[i].out), sizeof got,
                          cudaMemcpyDeviceToHost));
    return got;
  }

 private:
  struct Call {
    int64_t n, x_offset, x;
    size_t out, scratch;
    Reference expected;
  };

  // Whatever is not between them has its own check, or may be anything.
  static void check_guards(const Outputs<float>& words, const char* name) {
    const auto anything = [](float, float) { return true; };
    const auto trouble = words.differences(name, anything, contract::text);
    for (const std::string& one : trouble) {
      if (one.empty()) continue;
      FAIL_CHECK(one);
      return;
    }
  }

  std::vector<Call> calls_;
  Inputs<float> x_{kPoison};
  Outputs<float> out_{kPoison}, scratch_{kPoison};
};

void run_and_check(Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

void check_values(const Floats& values) {
  Calls calls;
  calls.add(values);
  run_and_check(calls);
}

// sum() on memory of just the size it asks for, which nobody has written.
class Bare {
 public:
  explicit Bare(int64_t n)
      : n_(n), x_(n), out_(1), scratch_(sum_scratch_floats(n)) {}

  float sum_of(const Floats& values) {
    CUDA_CHECK(cudaMemcpy(x_.data(), values.data(), n_ * sizeof(float),
                          cudaMemcpyHostToDevice));
    return sum_again();
  }
  float sum_again() {
    sum(x_.data(), out_.data(), n_, scratch_.data(), nullptr);
    return out_.to_host()[0];
  }

 private:
  int64_t n_;
  DeviceArray<float> x_, out_, scratch_;
};

// How many roundings x[i] goes through at least. A grain that meets x[i] = 1
// alone is lost; two that meet each other first are not. So while the sum is 1,
// each grain has an addition of its own.
int64_t roundings(int64_t n, int64_t i) {
  Bare bare(n);
  Floats values(n);
  values[i] = 1.f;
  int64_t grains = 0;
  for (int64_t j = 0; j < n; ++j) {
    // A thread may add up its neighbours, or numbers that are whole warps away.
    const int64_t away = std::abs(j - i);
    if (away == 0 || (away >= 64 && away % 32 != 0)) continue;
    values[j] = kGrain;
    if (bare.sum_of(values) == 1.f) {
      ++grains;
    } else {
      values[j] = 0.f;
    }
  }
  return grains;
}

// One sum() of numbers that the host never holds whole: `period` repeated.
void check_large(const Floats& period, int64_t n, int64_t offset) {
  const DeviceArray<float> x(offset + n), out(Floats{kPoison});
  const DeviceArray<float> scratch(sum_scratch_floats(n) + 1);  // Never none.
  fill(x.data() + offset, n, period);
  CUDA_CHECK(cudaMemset(scratch.data(), 0xff, scratch.size() * sizeof(float)));
  sum(x.data() + offset, out.data(), n, scratch.data(), nullptr);

  const auto length = static_cast<int64_t>(period.size());
  Reference expected;
  for (int64_t i = 0; i < length; ++i) {
    expected.add(period[i], n / length + (i < n % length));
  }
  const float got = out.to_host()[0];
  CHECK_MESSAGE(expected.allows(n, got), "n = ", n, ", x at offset ", offset,
                ": expected ", text(expected, n), ", got ",
                contract::text(got));
}

}  // namespace

TEST_CASE("sum handles every length") {
  Calls calls;
  for (const int64_t n : kShort) calls.add(whole(n));
  run_and_check(calls);
  for (const int64_t n : {kLong, kMillion}) check_values(whole(n));
}

TEST_CASE("sum handles tiles of tiles") {
  Floats values(2048 * 2048 + 1, 1.f);
  values.front() = 2.f;
  values.back() = 4.f;
  check_values(values);
}

TEST_CASE("sum handles every offset") {
  Calls calls;
  for (int64_t offset = 0; offset < 8; ++offset) {
    for (const int64_t n : {1, 5, 33, 1025, 4099}) {
      calls.add(whole(n), offset, offset * 3 % 8, offset * 5 % 8);
    }
  }
  calls.add(whole(kLong), 1, 1, 1);
  calls.add(whole(kLong), 6, 3, 2);
  run_and_check(calls);
}

TEST_CASE("sum of nothing is +0") {
  Calls calls;
  calls.add({});
  run_and_check(calls);
  CHECK(std::bit_cast<uint32_t>(calls.result(0)) == 0);
}

TEST_CASE("sum needs no more memory than it asks for") {
  for (const int64_t n : {1, 2047, 2049, 100'003}) {
    Bare bare(n);
    const Floats values = whole(n);
    CHECK(reference(values).allows(n, bare.sum_of(values)));
  }
}

TEST_CASE("sum uses the same memory again") {
  Bare bare(100'003);
  for (int run = 0; run < 3; ++run) {
    const Floats values = whole(100'003);
    CHECK(reference(values).allows(100'003, bare.sum_of(values)));
  }
}

TEST_CASE("sum is as exact as it promises") {
  for (const int64_t n : {2048, 5000, 200'000}) {
    Floats alternating(n), cancelling = random(n), huge = random(n, 0.f);
    for (int64_t i = 0; i < n; ++i) alternating[i] = i % 2 ? -0.1f : 0.1f;
    for (int64_t i = 0; i < n / 2; ++i) cancelling[n - 1 - i] = -cancelling[i];
    huge[n / 3] = 1e9f;
    Floats grains(n, kGrain);
    grains[0] = 1.f;

    Calls calls;
    calls.add(random(n));
    calls.add(random(n, 0.f), 3);
    calls.add(Floats(n, 0.1f));
    calls.add(alternating);
    calls.add(cancelling, 1);
    calls.add(huge);
    calls.add(grains);
    run_and_check(calls);
  }
}

TEST_CASE("sum rounds as often as it promises") {
  constexpr int64_t kN = 2049;
  const SumPromise promise = sum_promise(kN);
  int64_t most = 0;
  for (const int64_t i : {0, 1100}) {
    const int64_t found = roundings(kN, i);
    CHECK_MESSAGE(found <= promise.depth, "x[", i, "] of ", kN,
                  " goes through ", found, " roundings, and ", promise.depth,
                  " are promised");
    most = std::max(most, found);
  }
  // More may be promised: a part of a tile may count as a tile. How much more
  // is unknown where the order may change and a run show fewer than another.
  constexpr int64_t kMore = 256;
  if (promise.same_bits || work_is_done_when_queued()) {
    CHECK_MESSAGE(promise.depth <= 2 * most + kMore, promise.depth,
                  " roundings are promised, and at most ", most, " found");
  }
}

TEST_CASE("sum passes NaN through") {
  for (const int64_t n : {33, 2049, 100'003}) {
    Calls calls;
    for (const int64_t i : {int64_t{0}, n / 3, n - 1}) {
      Floats values = random(n);
      values[i] = i % 2 ? -kNan : kNan;
      calls.add(values);
    }
    run_and_check(calls);
  }
}

TEST_CASE("sum keeps infinity, and two of both signs are NaN") {
  for (const int64_t n : {33, 2049, 100'003}) {
    Calls calls;
    for (const float first : {kInf, -kInf}) {
      for (const float second : {0.f, kInf, -kInf}) {
        Floats values = random(n);
        values[n / 2] = first;
        values[n - 1] = second;
        calls.add(values);
      }
    }
    run_and_check(calls);
  }
}

TEST_CASE("sum keeps denormal numbers, if it promises to") {
  const float least = Limits::denorm_min();
  const float most = std::nextafter(Limits::min(), 0.f);
  Calls calls;
  calls.add(Floats(100'003, least));
  calls.add(with({least, -least, most}, Floats(2049)));
  run_and_check(calls);
}

TEST_CASE("sum gives the same bits in every run, if it promises to") {
  if (!sum_promise(kLong).same_bits) return;
  Bare bare(kLong);
  const float first = bare.sum_of(random(kLong));
  const int runs = work_is_done_when_queued() ? 2 : 100;
  for (int run = 1; run < runs; ++run) {
    if (same(first, bare.sum_again())) continue;
    FAIL("run ", run, " gave other bits than the first");
  }
}

TEST_CASE("sum serves two streams at once") {
  const Stream one, two;
  Calls calls_of_one, calls_of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    calls_of_one.add(whole(65'537), offset);
    calls_of_two.add(whole(65'537), 0, offset);
  }
  calls_of_one.prepare();
  calls_of_two.prepare();
  Gate gate_of_one(one), gate_of_two(two);
  calls_of_one.launch(one);
  calls_of_two.launch(two);
  gate_of_one.open();
  gate_of_two.open();
  one.finish();
  two.finish();
  calls_of_one.check();
  calls_of_two.check();
}

TEST_CASE("sum queues its work on the stream and returns") {
  const Stream stream;
  Calls calls;
  calls.add(whole(kLong));
  calls.prepare();
  calls.launch(stream);  // Loading a kernel for the first time may wait.
  stream.finish();
  calls.prepare();

  Gate gate(stream);
  calls.launch(stream);
  if (gate.holds()) {  // Else there is nothing to see but the result.
    CHECK_MESSAGE(!gate.gave_up(), "sum() waited for the stream's work");
    CHECK_MESSAGE(calls.untouched(), "sum() worked outside of the stream");
  }
  gate.open();
  stream.finish();
  calls.check();
}

TEST_CASE("sum handles 2^24 elements" * doctest::skip()) {
  check_large(random(kPeriod, 0.f), (1 << 24) + 3, 1);
}

TEST_CASE("sum handles more than 2^31 elements" * doctest::skip()) {
  if (work_is_done_when_queued()) {
    MESSAGE("Skipped: it takes a GPU.");
    return;
  }
  // Few enough that any order adds them up exactly.
  Floats period(kPeriod);
  for (int64_t i = 0; i < kPeriod; i += 1000) period[i] = 1 + i % 3;
  for (const auto& [n, offset] : {std::pair{(int64_t{1} << 31) + 5, 0},
                                  std::pair{(int64_t{1} << 31) + 5, 1},
                                  std::pair{(int64_t{1} << 32) + 7, 0}}) {
    const int64_t floats = n + sum_scratch_floats(n);
    if (has_memory(floats * sizeof(float))) check_large(period, n, offset);
  }
}
