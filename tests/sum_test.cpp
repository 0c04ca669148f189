// What every sum() must do, whichever file defines it.
#include "common/sum.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <utility>

#include "common/harness/checked_call.h"
#include "tests/contract.h"

namespace {

using namespace contract;

// Where a warp, a block or a tile ends.
const std::vector<int64_t> kShort =
    lengths({0,    1,    2,    3,    31,   32,   33,   63,   64,   65,   127,
             128,  129,  255,  256,  257,  511,  512,  513,  1023, 1024, 1025,
             2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193});
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kMillion = 1 << 20;

// Around and in whatever sum() has to leave alone or to write first: one of
// these in a sum, and the sum is a NaN.
const float kPoison = std::bit_cast<float>(0xffffffff);

// Half the last bit of 1: a sum of 1 and one grain is 1.
constexpr float kGrain = 0x1p-24f;

// Whole numbers but 0, so that one more or one less is noticed. Up to 1.8
// million of them can be added in any order without rounding, of those below 8
// twice as many.
Floats whole(int64_t n, float below = 17) {
  Floats values = random(n, 1.f, below);
  for (float& v : values) v = std::floor(v);
  return values;
}

// What was promised first about n numbers, and counts from then on.
const SumPromise& promised(int64_t n) {
  static std::map<int64_t, SumPromise> first;
  const auto known = first.find(n);
  return known != first.end() ? known->second
                              : first.emplace(n, sum_promise(n)).first->second;
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
    const auto& [depth, same_bits, denormals] = promised(n);
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
  // Each starts so many floats past a 256-byte boundary.
  void add(const Floats& values, int64_t x_offset = 0, int64_t out_offset = 0,
           int64_t scratch_offset = 0) {
    const auto n = static_cast<int64_t>(values.size());
    const Floats lent(sum_scratch_floats(n));  // 0 at first.
    calls_.push_back(
        {n, x_offset, x_.add(values, x_offset), out_.add({0.f}, out_offset),
         scratch_.add(lent, lent, scratch_offset), reference(values)});
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

  void blank() const {
    x_.blank();
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  void close() const { x_.close(); }
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

// sum() on memory of just the size it asks for.
class Bare {
 public:
  explicit Bare(int64_t n)
      : n_(n), x_(n), out_(1), scratch_(Floats(sum_scratch_floats(n))) {}

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

// For a while, the executor looks for no races, which shorter arrays have
// shown.
struct Hurry {
  const Setting setting{"SIMT_CHECKS", "off"};
};

// How many roundings x[i] goes through at least. A grain that meets x[i] = 1
// alone is lost; two that meet each other first are not. So while the sum is 1,
// each grain has an addition of its own.
class Roundings {
 public:
  Roundings(int64_t n, int64_t i) : n_(n), i_(i), bare_(n), values_(n) {
    values_[i] = 1.f;
  }

  int64_t found() const { return found_; }

  // A thread may add up its neighbours, or numbers that are whole warps away.
  void look_nearby() {
    for (int64_t j = 0; j < n_; ++j) {
      const int64_t away = std::abs(j - i_);
      if (away < 64 || away % 32 == 0) add({j});
    }
  }

  // Where it goes through all of them, one after the other.
  void look_everywhere() {
    std::vector<int64_t> rest(n_);
    std::iota(rest.begin(), rest.end(), 0);
    add(rest);
  }

  // Tiles, blocks and threads are powers of two apart, each with its own, and
  // are added up in a row or in pairs.
  void look_far_away() {
    for (auto away = std::bit_floor(uint64_t(n_)); away > 0; away /= 2) {
      for (auto most = std::bit_floor(n_ / away); most > 0; most /= 2) {
        if (add(multiples(away, most))) break;
      }
    }
  }

 private:
  // i - m away and i + m away for odd m up to `most`.
  std::vector<int64_t> multiples(int64_t away, int64_t most) const {
    std::vector<int64_t> some;
    for (int64_t m = 1; m <= most; m += 2) {
      for (const int64_t j : {i_ - m * away, i_ + m * away}) {
        if (0 <= j && j < n_) some.push_back(j);
      }
    }
    return some;
  }

  // False if some of them meet each other first, or what was found before.
  bool add(std::vector<int64_t> places) {
    std::erase_if(places, [&](int64_t j) { return values_[j] != 0.f; });
    for (const int64_t j : places) values_[j] = kGrain;
    // Where blocks come in any order, grains may meet each other by chance.
    const int attempts = work_is_done_when_queued() ? 1 : 8;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      if (bare_.sum_of(values_) != 1.f) continue;
      found_ += std::ssize(places);
      return true;
    }
    for (const int64_t j : places) values_[j] = 0.f;
    return false;
  }

  const int64_t n_, i_;
  Bare bare_;
  Floats values_;
  int64_t found_ = 0;
};

// Returns what was found.
int64_t check_depth(int64_t n, int64_t i, const Roundings& roundings) {
  const SumPromise& promise = promised(n);
  const int64_t found = roundings.found();
  CHECK_MESSAGE(found <= promise.depth, "x[", i, "] of ", n, " goes through ",
                found, " roundings, and ", promise.depth, " are promised");
  return found;
}

// More may be promised: a part of a tile may count as a tile. How much more is
// unknown where the order may change and a run show fewer than another.
void check_need(int64_t n, int64_t most) {
  constexpr int64_t kMore = 256;
  const SumPromise& promise = promised(n);
  if (!promise.same_bits && !work_is_done_when_queued()) return;
  CHECK_MESSAGE(promise.depth <= 2 * most + kMore, promise.depth,
                " roundings of ", n, " numbers are promised, and at most ",
                most, " found");
}

// What sum() says of n numbers.
struct Said {
  explicit Said(int64_t of) : n(of) {}

  const int64_t n;
  const SumPromise promise = promised(n);
  const int64_t scratch = sum_scratch_floats(n);

  void check_again() const {
    const SumPromise now = sum_promise(n);
    CHECK_MESSAGE(now.depth == promise.depth, "sum_promise(", n,
                  ") has a depth of ", now.depth, ", and had ", promise.depth);
    CHECK_MESSAGE(now.same_bits == promise.same_bits, "sum_promise(", n,
                  ") has changed its mind about the same bits");
    CHECK_MESSAGE(now.denormals == promise.denormals, "sum_promise(", n,
                  ") has changed its mind about denormal numbers");
    CHECK_MESSAGE(sum_scratch_floats(n) == scratch, "sum_scratch_floats(", n,
                  ") was ", scratch, ", and is ", sum_scratch_floats(n));
  }
};

// One sum() of numbers that the host never holds whole: `period` repeated.
void check_large(const Floats& period, int64_t n, int64_t offset) {
  const DeviceArray<float> x(offset + n), out(Floats{kPoison});
  const DeviceArray<float> scratch(sum_scratch_floats(n) + 1);  // Never none.
  fill(x.data() + offset, n, period);
  CUDA_CHECK(cudaMemset(scratch.data(), 0, scratch.size() * sizeof(float)));
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

void check_sum(const Floats& values, float got) {
  const auto n = static_cast<int64_t>(values.size());
  const Reference expected = reference(values);
  if (expected.allows(n, got)) return;
  FAIL_CHECK("n = ", n, ": expected ", text(expected, n), ", got ",
             contract::text(got));
}

}  // namespace

void checked_call(const Case& one) {
  Calls calls;
  calls.add(whole(one.n), one.offset);
  run_and_check(calls);
}

TEST_CASE("sum handles every length") {
  Calls calls;
  for (const int64_t n : kShort) calls.add(whole(n));
  run_and_check(calls);
  for (const int64_t n : {kLong, kMillion}) check_values(whole(n));
}

TEST_CASE("sum handles tiles of tiles") {
  const Hurry hurry;
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
  calls.add(whole(200'003), 1, 1, 1);
  calls.add(whole(200'003), 6, 3, 2);
  // As many packs as a grid's shape may change at, or one fewer.
  for (const int64_t offset : {0, 1})
    calls.add(whole((1 << 21) + 4, 8), offset);
  run_and_check(calls);
}

TEST_CASE("sum of nothing is +0") {
  Calls calls;
  calls.add({});
  run_and_check(calls);
  const float nothing = calls.result(0);
  if (std::bit_cast<uint32_t>(nothing))
    FAIL_CHECK("expected +0, got ", contract::text(nothing));
}

TEST_CASE("sum needs no more memory than it asks for") {
  for (const int64_t n : {1, 2047, 2049, 100'003}) {
    Bare bare(n);
    const Floats values = whole(n);
    check_sum(values, bare.sum_of(values));
  }
}

TEST_CASE("sum uses the same memory again") {
  Bare bare(100'003);
  for (int run = 0; run < 3; ++run) {
    const Floats values = whole(100'003);
    check_sum(values, bare.sum_of(values));
  }
}

TEST_CASE("sum uses the same memory for other lengths") {
  const std::vector<int64_t> lengths = {100'003, 33,      65'536, 200'003,
                                        2049,    100'003, 8193,   200'003};
  int64_t most = 0;
  for (const int64_t n : lengths) most = std::max(most, sum_scratch_floats(n));
  const DeviceArray<float> out(1), scratch(Floats(most, 0.f));
  for (const int64_t n : lengths) {
    const Floats values = whole(n);
    const DeviceArray<float> x(values);
    sum(x.data(), out.data(), n, scratch.data(), nullptr);
    check_sum(values, out.to_host()[0]);
  }
}

// Whichever block comes first, it finds what the call before left, or nothing.
TEST_CASE("sum adds up blocks that begin in any order") {
  const Setting order("SIMT_ORDER", "backwards");
  Bare bare(100'003);
  for (int run = 0; run < 2; ++run) {
    const Floats values = whole(100'003);
    check_sum(values, bare.sum_of(values));
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
  int64_t most = 0;
  for (const int64_t i : {0, 1100}) {
    Roundings roundings(kN, i);
    roundings.look_nearby();
    roundings.look_everywhere();
    most = std::max(most, check_depth(kN, i, roundings));
  }
  check_need(kN, most);
}

TEST_CASE("sum rounds as often as it promises, in longer arrays") {
  constexpr int64_t kN = 10'001;  // Two tiles and more, as tiles go.
  Roundings roundings(kN, 0);
  roundings.look_far_away();
  check_need(kN, check_depth(kN, 0, roundings));
}

TEST_CASE("sum promises the same in every call") {
  std::vector<Said> before;
  for (const int64_t n : {0, 1, 2049, 10'001, 1 << 30}) before.emplace_back(n);
  for (const int64_t n : {20'001, 5}) {
    Bare(n).sum_of(whole(n));
    for (const Said& said : before) said.check_again();
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
  if (!promised(kLong).same_bits) return;
  const int runs = work_is_done_when_queued() ? 2 : 1000;
  const Floats lent(sum_scratch_floats(kLong));
  const DeviceArray<float> x(random(kLong)), out(Floats(runs, kPoison)),
      scratch(lent), busy_out(1), busy_scratch(lent);
  const Stream stream, busy;
  for (int run = 0; run < runs; ++run) {
    sum(x.data(), out.data() + run, kLong, scratch.data(), stream);
    sum(x.data(), busy_out.data(), kLong, busy_scratch.data(), busy);
  }
  stream.finish();
  busy.finish();
  const Floats got = out.to_host();
  for (int run = 1; run < runs; ++run) {
    if (same(got[0], got[run])) continue;
    FAIL("run ", run, " gave other bits than the first");
  }
}

TEST_CASE("sum serves two streams at once") {
  Calls of_one, of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    of_one.add(whole(65'537), offset);
    of_two.add(whole(65'537), 0, offset);
  }
  check_side_by_side(of_one, of_two);
}

TEST_CASE("sum gives back what it takes") {
  Calls calls;
  calls.add(whole(20'001), 1, 1, 1);
  check_gives_back(calls, "sum()");
}

TEST_CASE("sum queues its work on the stream and returns") {
  Calls calls;
  calls.add(whole(200'003));
  check_queueing(calls, "sum()");
}

TEST_CASE("sum can be replayed again") {
  Calls calls;
  calls.add(whole(200'003));
  calls.add(whole(33));
  const Stream stream;
  calls.prepare();
  const Recording recording(calls, "sum()", stream);
  REQUIRE(recording.succeeded());
  for (int time = 0; time < 3; ++time) recording.replay();
  calls.check();
}

TEST_CASE("sum leaves its work to the GPU") {
  Calls calls;
  calls.add(whole(5000));
  check_gpu_works(calls, "sum()");
}

// Every second number is 1, on average: any order adds up 2^24 of them exactly.
TEST_CASE("sum handles more than 2^24 elements") {
  const Hurry hurry;
  Floats period = random(kPeriod, 0.f, 2.f);
  for (float& v : period) v = std::floor(v);
  constexpr int64_t kN = (1 << 24) + 3;
  period.front() = period[(kN - 1) % kPeriod] = 1.f;
  check_large(period, kN, 0);
}

TEST_CASE("sum rounds as often as it promises, of 2^24 elements" *
          doctest::skip()) {
  check_large(random(kPeriod, 0.f), (1 << 24) + 3, 1);
}

TEST_CASE("sum handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
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

TEST_CASE("sum never writes to its input") {
  if (is_left_to_the_executor()) return;
  Calls calls;
  for (const int64_t n : kShort) calls.add(whole(n), n % 2);
  check_inputs_are_read_only(calls);
}
