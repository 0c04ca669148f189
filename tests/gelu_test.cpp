// What every gelu() must do, whichever file defines it.
#include "common/gelu.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>

#include "common/harness/checked_call.h"
#include "common/harness/gelu_reference.h"
#include "tests/contract.h"

namespace {

using namespace contract;

using Halves = std::vector<__half>;

const std::vector<int64_t> kShort =
    lengths({0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 511, 512, 2047, 2048,
             2049, 4099});
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kGuards = 64;
constexpr int64_t kPack = 8;
constexpr int kHalves = 1 << 16;  // So many bit patterns has a half.
constexpr int kShown = 5;
constexpr int kMostUlps = 32;

__half half_of(uint16_t bits) { return __ushort_as_half(bits); }
uint16_t bits_of(__half v) { return __half_as_ushort(v); }

const __half kGuardHalf = half_of(0xf1f1);  // No GELU is -12168.
const __half kStrayHalf = half_of(0x7a7a);  // Seen in y, it was read.
const __half kInfinity = half_of(0x7c00), kMinusInfinity = half_of(0xfc00);

// What a half becomes, from a table of all.
__half reference(__half v) {
  static const Halves all = [] {
    Halves y;
    for (int bits = 0; bits < kHalves; ++bits)
      y.push_back(gelu_in_double(half_of(bits)));
    return y;
  }();
  return all[bits_of(v)];
}

Halves references(const Halves& x) {
  Halves y;
  for (const __half v : x) y.push_back(reference(v));
  return y;
}

int ulps_between(__half a, __half b) { return std::abs(place(a) - place(b)); }

bool is_finite(__half v) { return std::isfinite(__half2float(v)); }

// What was promised first; to ask a hand-in for each number would take minutes.
int promised() {
  static const int first = gelu_ulps();
  return first;
}

bool keeps_promise(__half expected, __half got) {
  if (bits_of(expected) == bits_of(got)) return true;
  if (__hisnan(expected)) return __hisnan(got);
  if (is_finite(expected) && is_finite(got))
    return ulps_between(expected, got) <= promised();
  return false;
}

std::string text_of(__half v) {
  char line[64];
  std::snprintf(line, sizeof line, "%.6g (0x%04x)%s", __half2float(v),
                bits_of(v),
                bits_of(v) == bits_of(kGuardHalf) ? ", as before" : "");
  return line;
}

std::string line_of(int64_t i, __half x, __half got) {
  const __half expected = reference(x);
  std::string line = "\n  x[" + std::to_string(i) + "] = " + text_of(x) +
                     ": expected " + text_of(expected) + ", got " +
                     text_of(got);
  if (is_finite(expected) && is_finite(got))
    line += ", " + std::to_string(ulps_between(expected, got)) + " ulps off";
  return line;
}

// The first results that are wrong, each with what it should be, or nothing.
std::string first_wrong(const Halves& x, const Halves& y) {
  std::string lines;
  int64_t wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (keeps_promise(reference(x[i]), y[i]) || ++wrong > kShown) continue;
    lines += line_of(i, x[i], y[i]);
  }
  return wrong ? std::to_string(wrong) + " wrong" + lines : "";
}

// Where GELU is neither 0 nor x itself.
Halves random_halves(int64_t n) {
  Halves x;
  for (const float v : random(n, -5.f, 4.f)) x.push_back(__float2half_rn(v));
  return x;
}

Halves finite_halves() {
  Halves x;
  for (int bits = 0; bits < kHalves; ++bits)
    if (is_finite(half_of(bits))) x.push_back(half_of(bits));
  return x;
}

// Calls of gelu(), each on arrays of its own.
class Calls {
 public:
  // x and y start so many halves past a 256-byte boundary.
  void add(const Halves& x, int64_t x_offset = 0, int64_t y_offset = 0) {
    calls_.push_back({x, x_offset, y_offset, x_.add(x, x_offset),
                      y_.add(references(x), y_offset)});
  }

  void prepare() {
    x_.upload();
    y_.upload();
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      gelu(x_.at(call.x_begin), y_.at(call.y_number), size(call), stream);
    }
  }

  void blank() const {
    x_.blank();
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  void close() const { x_.close(); }
  bool untouched() const { return y_.untouched(); }

  // Every result is as it must be, guards are as they were, and x, too.
  void check() const {
    CHECK_MESSAGE(x_.unchanged(), "gelu() changed its input");

    const auto trouble = y_.differences("y", keeps_promise, text_of);
    const auto wrong = std::find_if(trouble.begin(), trouble.end(),
                                    [](const auto& t) { return !t.empty(); });
    if (wrong == trouble.end()) return;
    const Call& call = calls_[wrong - trouble.begin()];
    const std::string results = first_wrong(call.x, result(call));
    FAIL_CHECK("n = ", size(call), ", x at offset ", call.x_offset,
               ", y at offset ", call.y_offset, ": ",
               results.empty() ? *wrong : results);
  }

 private:
  struct Call {
    Halves x;
    int64_t x_offset, y_offset;
    int64_t x_begin;
    size_t y_number;
  };

  static int64_t size(const Call& call) {
    return static_cast<int64_t>(call.x.size());
  }

  Halves result(const Call& call) const {
    Halves y(call.x.size());
    CUDA_CHECK(cudaMemcpy(y.data(), y_.at(call.y_number),
                          y.size() * sizeof(__half), cudaMemcpyDeviceToHost));
    return y;
  }

  std::vector<Call> calls_;
  Inputs<__half> x_{kStrayHalf};
  Outputs<__half> y_{kGuardHalf};
};

void run_and_check(Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

void check_values(const Halves& x, int64_t offset = 0) {
  Calls calls;
  calls.add(x, offset, offset);
  run_and_check(calls);
}

// In packs and not, at the end of an array and before.
void check_special(const Halves& special) {
  const Halves x = with(special, random_halves(2051));
  check_values(x);
  check_values(x, 1);
}

Halves gelu_of(const Halves& x) {
  const DeviceArray<__half> device_x(x), device_y(device_x.size());
  gelu(device_x.data(), device_y.data(), device_x.size(), nullptr);
  return device_y.to_host();
}

// One gelu() on arrays that the host never holds whole: `period` repeated.
void check_large(const Halves& period, int64_t n, int64_t offset) {
  const DeviceArray<__half> x(offset + n), y(offset + n + kGuards);
  fill(x.data() + offset, n, period);
  CUDA_CHECK(cudaMemset(y.data(), 0xff, y.size() * sizeof(__half)));
  gelu(x.data() + offset, y.data() + offset, n, nullptr);

  Halves expected;
  for (const __half v : period) expected.push_back(reference(v));
  each(y.data() + offset, n, [&](int64_t i, int64_t phase, __half got) {
    if (keeps_promise(expected[phase], got)) return;
    FAIL("n = ", n, ", both at offset ", offset, ":",
         line_of(i, period[phase], got));
  });
  each(y.data() + offset + n, kGuards, [&](int64_t, int64_t, __half got) {
    if (bits_of(got) != 0xffff) FAIL("gelu() wrote past y[n - 1], n = ", n);
  });
}

}  // namespace

void checked_call(const Case& one) {
  Calls calls;
  calls.add(random_halves(one.n), one.offset, one.offset);
  run_and_check(calls);
}

TEST_CASE("gelu keeps its promise for every finite half") {
  check_values(finite_halves());
}

TEST_CASE("gelu promises no more ulps than it needs") {
  const Halves x = finite_halves(), y = gelu_of(x);
  int worst = 0;
  for (size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps_between(reference(x[i]), y[i]));
  CHECK(gelu_ulps() <= kMostUlps);
  CHECK_MESSAGE(gelu_ulps() <= 2 * worst + 1, "gelu_ulps() is ", gelu_ulps(),
                ", and the worst result is ", worst, " off");
}

TEST_CASE("gelu handles every length") {
  for (const int64_t n : kShort) check_values(random_halves(n));
  check_values(random_halves(kLong));
}

TEST_CASE("gelu handles every pair of offsets") {
  for (const int64_t n : kShort) {
    Calls calls;
    for (int64_t x_offset = 0; x_offset < 8; ++x_offset) {
      for (int64_t y_offset = 0; y_offset < 8; ++y_offset) {
        calls.add(random_halves(n), x_offset, y_offset);
      }
    }
    run_and_check(calls);
  }
}

TEST_CASE("gelu handles offsets in a long array") {
  Calls calls;
  calls.add(random_halves(kLong), 1, 1);
  calls.add(random_halves(kLong), 0, 3);
  calls.add(random_halves(kLong), 4, 0);
  calls.add(random_halves(kLong), 8, 16);
  run_and_check(calls);
}

TEST_CASE("gelu keeps its promise for every finite half, misaligned") {
  check_values(finite_halves(), 1);
}

TEST_CASE("gelu handles more elements than a grid has threads") {
  const SmallGpu gpu;
  const Halves period = random_halves(kPeriod);
  check_large(period, gpu.more_than_a_grid(kPack), 0);
  check_large(period, gpu.more_than_a_grid(1), 1);
}

TEST_CASE("gelu passes NaN through") {
  check_special({half_of(0x7fff), half_of(0xffff), half_of(0x7e00),
                 half_of(0xfe00), half_of(0x7d23)});
}

TEST_CASE("gelu keeps infinity") { check_special({kInfinity}); }

TEST_CASE("gelu of -infinity is zero") {
  check_special({kMinusInfinity});
  for (const __half v : gelu_of(Halves(9, kMinusInfinity)))  // A pack and one.
    CHECK_MESSAGE(place(v) == 0, "gelu(-infinity) is ", text_of(v));
}

TEST_CASE("gelu serves two streams at once") {
  Calls of_one, of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    of_one.add(random_halves(65'537), 0, offset);
    of_two.add(random_halves(65'537), offset, 0);
  }
  check_side_by_side(of_one, of_two);
}

TEST_CASE("gelu gives back what it takes") {
  Calls calls;
  calls.add(random_halves(20'001), 1, 1);
  check_gives_back(calls, "gelu()");
}

TEST_CASE("gelu queues its work on the stream and returns") {
  Calls calls;
  calls.add(random_halves(kLong));
  check_queueing(calls, "gelu()");
}

TEST_CASE("gelu leaves its work to the GPU") {
  Calls calls;
  calls.add(random_halves(1025));
  check_gpu_works(calls, "gelu()");
}

TEST_CASE("gelu promises the same in every call") {
  const int first = gelu_ulps();
  for (int call = 0; call < 10; ++call) {
    gelu_of(random_halves(call));
    const int now = gelu_ulps();
    REQUIRE_MESSAGE(now == first, "gelu_ulps() was ", first, ", and is ", now);
  }
}

TEST_CASE("gelu handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const Halves period = random_halves(kPeriod);
  for (const auto& [n, offset] : {std::pair{(int64_t{1} << 31) + 5, 0},
                                  std::pair{(int64_t{1} << 31) + 5, 1},
                                  std::pair{(int64_t{1} << 32) + 7, 0}}) {
    if (has_memory(2 * n * sizeof(__half))) check_large(period, n, offset);
  }
}

TEST_CASE("gelu never writes to its input") {
  if (is_left_to_the_executor()) return;
  Calls calls;
  for (const int64_t n : kShort) {
    calls.add(random_halves(n));
    calls.add(random_halves(n), 1, 1);
  }
  check_inputs_are_read_only(calls);
}
