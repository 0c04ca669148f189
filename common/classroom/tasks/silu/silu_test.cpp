// What every silu() must do, whichever file defines it.
#include "common/classroom/tasks/silu/silu.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

using Halves = std::vector<__half>;

constexpr int kHalves = 1 << 16;  // So many bit patterns has a half.
constexpr int kMostSteps = 1;

__half half_of(int bits) {
  return __ushort_as_half(static_cast<uint16_t>(bits));
}

// The formula in double, rounded to half.
__half in_double(__half v) {
  const double x = __half2float(v);
  if (std::isinf(x)) return x > 0 ? v : half_of(0);
  return __double2half(x / (1 + std::exp(-x)));
}

// Neighbouring halves have neighbouring places; -0 and +0 share one.
int place(__half v) {
  const int bits = __half_as_ushort(v);
  return bits < 0x8000 ? bits : 0x8000 - bits;
}

bool is_finite(__half v) { return std::isfinite(__half2float(v)); }

bool is_near(int64_t, __half expected, __half got) {
  if (__hisnan(expected)) return __hisnan(got);
  if (is_finite(expected) && is_finite(got))
    return std::abs(place(expected) - place(got)) <= kMostSteps;
  return same_bytes(expected, got);
}

bool is_equal(int64_t, __half expected, __half got) {
  return place(expected) == place(got);
}

std::string print(__half v) {
  char line[64];
  std::snprintf(line, sizeof line, "%.6g (0x%04x)", __half2float(v),
                __half_as_ushort(v));
  return line;
}

Call silu_of(const Halves& x, Offsets at = {},
             bool (*allows)(int64_t, __half, __half) = is_near) {
  const int64_t n = std::ssize(x);
  Halves expected;
  for (const __half v : x) expected.push_back(in_double(v));
  Call call(length(n), at);
  const __half* in = call.reads("x", x);
  __half* out = call.writes<__half>("y", expected, {allows, print});
  call.is([=](cudaStream_t stream) { silu(in, out, n, stream); });
  return call;
}

// Where SiLU is neither 0 nor x itself.
Halves random_halves(int64_t n) {
  Halves x;
  for (const float v : random(n, -12.f, 6.f)) x.push_back(__float2half_rn(v));
  return x;
}

const Contract<> kSilu = of_length(
    "silu", [](int64_t n, Offsets at) { return silu_of(random_halves(n), at); },
    8);

// In packs and not, at the end of an array and before.
void check_special(const Halves& special) {
  const Halves x = with(special, random_halves(2051));
  check_both_ways([&](Offsets at) { return silu_of(x, at); });
}

}  // namespace

void checked_call(const Case& one) { run_and_check(kSilu, one.n, one.offset); }

TEST_CASE("silu handles every size") { check_every_size(kSilu); }

TEST_CASE("silu handles every offset") { check_every_offset(kSilu); }

TEST_CASE("silu handles more elements than a grid has threads") {
  check_more_than_a_grid(kSilu);
}

TEST_CASE("silu serves two streams at once") { check_two_streams(kSilu); }

TEST_CASE("silu gives back what it takes") { check_gives_back(kSilu); }

TEST_CASE("silu queues its work on the stream and returns") {
  check_queueing(kSilu);
}

TEST_CASE("silu leaves its work to the GPU") { check_gpu_works(kSilu); }

TEST_CASE("silu never writes to its input") {
  check_inputs_are_read_only(kSilu);
}

TEST_CASE("silu is right for each of the 65,536 halves") {
  Halves all;
  for (int bits = 0; bits < kHalves; ++bits) all.push_back(half_of(bits));
  check_both_ways([&](Offsets at) { return silu_of(all, at); });
}

TEST_CASE("silu passes NaN through") {
  check_special({half_of(0x7fff), half_of(0xffff), half_of(0x7e00),
                 half_of(0xfe00), half_of(0x7d23)});
}

TEST_CASE("silu of infinity is infinity, and of -infinity zero") {
  check_special({half_of(0x7c00), half_of(0xfc00)});
  const Halves minus(9, half_of(0xfc00));
  check_both_ways([&](Offsets at) { return silu_of(minus, at, is_equal); });
}
