// What every relu() must do, whichever file defines it.
#include "common/relu.h"

#include <utility>

#include "tests/every_contract.h"

namespace {

using namespace contract;

constexpr int64_t kGuards = 64;

float reference(float x) {
  if (std::isnan(x)) return x;
  return x > 0.f ? x : 0.f;
}

Call relu_of(const Floats& x, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Floats expected;
  for (const float v : x) expected.push_back(reference(v));
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", expected);
  call.is([=](cudaStream_t stream) { relu(in, out, n, stream); });
  return call;
}

const Contract<> kRelu = of_length(
    "relu", [](int64_t n, Offsets at) { return relu_of(random(n), at); });

void check_values(const Floats& values) {
  check_both_ways([&](Offsets at) { return relu_of(values, at); });
}

void check_special(const Floats& special) {
  check_values(with(special, random(1025)));
}

// One relu() on arrays that the host never holds whole: `period` repeated.
void check_large(const Floats& period, int64_t n, int64_t offset) {
  const DeviceArray<float> x(offset + n), y(offset + n + kGuards);
  fill(x.data() + offset, n, period);
  CUDA_CHECK(cudaMemset(y.data(), 0xff, y.size() * sizeof(float)));
  relu(x.data() + offset, y.data() + offset, n, nullptr);

  each(y.data() + offset, n, [&](int64_t i, int64_t phase, float got) {
    const float expected = reference(period[phase]);
    if (same(expected, got)) return;
    FAIL("n = ", n, ", both at offset ", offset, ": y[", i, "] expected ",
         text(expected), ", got ", text(got));
  });
  each(y.data() + offset + n, kGuards, [&](int64_t, int64_t, float got) {
    if (std::bit_cast<uint32_t>(got) != 0xffffffff)
      FAIL("relu() wrote past y[n - 1], n = ", n);
  });
}

}  // namespace

void checked_call(const Case& one) { run_and_check(kRelu, one.n, one.offset); }

TEST_CASE("relu handles every length") { check_every_size(kRelu); }

TEST_CASE("relu handles every pair of offsets") { check_every_offset(kRelu); }

TEST_CASE("relu handles more elements than a grid has threads") {
  check_more_than_a_grid(kRelu);
}

TEST_CASE("relu of negative numbers is zero") {
  check_values(random(1025, -1.f, 0.f));
}

TEST_CASE("relu keeps numbers of every size") { check_values(sizes()); }

TEST_CASE("relu passes NaN through") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  check_special({kNan, -kNan, payload, Limits::signaling_NaN()});
}

TEST_CASE("relu keeps infinity") { check_special({kInf, -kInf}); }

TEST_CASE("relu keeps denormal numbers") {
  const float least = Limits::denorm_min();
  const float most = std::nextafter(Limits::min(), 0.f);
  check_special({least, -least, most, -most});
}

TEST_CASE("relu never returns -0") { check_special({0.f, -0.f}); }

TEST_CASE("relu serves two streams at once") { check_two_streams(kRelu); }

TEST_CASE("relu gives back what it takes") { check_gives_back(kRelu); }

TEST_CASE("relu queues its work on the stream and returns") {
  check_queueing(kRelu);
}

TEST_CASE("relu leaves its work to the GPU") { check_gpu_works(kRelu); }

TEST_CASE("relu handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const Floats period = random(kPeriod);
  for (const auto& [n, offset] : {std::pair{(int64_t{1} << 31) + 5, 0},
                                  std::pair{(int64_t{1} << 31) + 5, 1},
                                  std::pair{(int64_t{1} << 32) + 7, 0}}) {
    if (has_memory(2 * n * sizeof(float))) check_large(period, n, offset);
  }
}

TEST_CASE("relu never writes to its input") {
  check_inputs_are_read_only(kRelu);
}
