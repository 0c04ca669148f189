// What every moving_sum() must do, whichever file defines it.
#include "common/classroom/tasks/moving_sum/moving_sum.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

float sum_about(const Floats& x, int64_t i) {
  const int64_t first = std::max<int64_t>(0, i - kReach);
  const int64_t last = std::min(std::ssize(x) - 1, i + kReach);
  float sum = x[first];
  for (int64_t k = first + 1; k <= last; ++k) sum += x[k];
  return sum;
}

Call moving_sum_of(const Floats& x, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Floats expected;
  for (int64_t i = 0; i < n; ++i) expected.push_back(sum_about(x, i));
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", expected);
  call.is([=](cudaStream_t stream) { moving_sum(in, out, n, stream); });
  return call;
}

// Whole numbers: their sums are the same in any order.
Floats whole(int64_t n) {
  Floats values = random(n, -1000.f, 1000.f);
  for (float& v : values) v = std::round(v) + 0.f;  // And no -0.
  return values;
}

const Contract<> kMovingSum = of_length(
    "moving_sum",
    [](int64_t n, Offsets at) { return moving_sum_of(whole(n), at); });

void check_values(const Floats& x) {
  check_both_ways([&](Offsets at) { return moving_sum_of(x, at); });
}

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kMovingSum, one.n, one.offset);
}

TEST_CASE("moving_sum handles every size") { check_every_size(kMovingSum); }

TEST_CASE("moving_sum handles every offset") { check_every_offset(kMovingSum); }

TEST_CASE("moving_sum handles more elements than a grid has threads") {
  check_more_than_a_grid(kMovingSum);
}

TEST_CASE("moving_sum serves two streams at once") {
  check_two_streams(kMovingSum);
}

TEST_CASE("moving_sum gives back what it takes") {
  check_gives_back(kMovingSum);
}

TEST_CASE("moving_sum queues its work on the stream and returns") {
  check_queueing(kMovingSum);
}

TEST_CASE("moving_sum leaves its work to the GPU") {
  check_gpu_works(kMovingSum);
}

TEST_CASE("moving_sum never writes to its input") {
  check_inputs_are_read_only(kMovingSum);
}

TEST_CASE("moving_sum adds from left to right") { check_values(random(5000)); }

TEST_CASE("moving_sum passes NaN and infinity to their neighbours alone") {
  Floats x = random(1000);
  x[0] = kInf;
  x[300] = kNan;
  x[600] = -kInf;
  x[620] = kInf;
  x[999] = -kNan;
  check_values(x);
}

TEST_CASE("moving_sum of -0 is -0") { check_values(Floats(1000, -0.f)); }
