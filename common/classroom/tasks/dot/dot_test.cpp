// What every dot() must do, whichever file defines it.
#include "common/classroom/tasks/dot/dot.h"

#include "tests/exact_sum.h"

namespace {

using namespace contract;

Call dot_of(const Floats& x, const Floats& y, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  ExactSum sum;
  for (int64_t i = 0; i < n; ++i) {
    sum.add(static_cast<long double>(x[i]) * y[i]);
  }
  const auto allows = [sum, n](int64_t, float, float got) {
    return sum.allows(got, 64 + n / 256);
  };
  Call call(length(n), at);
  const float* in_x = call.reads("x", x);
  const float* in_y = call.reads("y", y);
  float* out = call.writes<float>("out", {sum.rounded()}, {.allows = allows});
  float* scratch = call.borrows<float>("scratch", dot_scratch_floats(n));
  call.is(
      [=](cudaStream_t stream) { dot(in_x, in_y, out, n, scratch, stream); });
  return call;
}

const Contract<> kDot = of_length("dot", [](int64_t n, Offsets at) {
  return dot_of(whole(n), whole(n), at);
});

// y of ones, but for special[1] where x has special[0], in three places.
void check_special(float of_x, float of_y) {
  for (const int64_t n : {33, 2049, 100'003}) {
    for (const int64_t i : {int64_t{0}, n / 3, n - 1}) {
      Floats x = random(n), y(n, 1.f);
      x[i] = of_x;
      y[i] = of_y;
      run_and_check(dot_of(x, y));
    }
  }
}

}  // namespace

void checked_call(const Case& one) { run_and_check(kDot, one.n, one.offset); }

TEST_CASE("dot handles every size") { check_every_size(kDot); }

TEST_CASE("dot handles every offset") { check_every_offset(kDot); }

TEST_CASE("dot handles more elements than a grid has threads") {
  check_more_than_a_grid(kDot);
}

TEST_CASE("dot serves two streams at once") { check_two_streams(kDot); }

TEST_CASE("dot gives back what it takes") { check_gives_back(kDot); }

TEST_CASE("dot queues its work on the stream and returns") {
  check_queueing(kDot);
}

TEST_CASE("dot leaves its work to the GPU") { check_gpu_works(kDot); }

TEST_CASE("dot never writes to its input") { check_inputs_are_read_only(kDot); }

TEST_CASE("dot is as exact as its contract asks") {
  for (const int64_t n : {2048, 5000, 200'000}) {
    for (const Floats& x : delicate(n)) {
      run_and_check(dot_of(x, Floats(n, 1.f)));
      run_and_check(dot_of(Floats(n, -1.f), x, {1, 3}));
      run_and_check(dot_of(x, random(n)));
    }
  }
}

TEST_CASE("dot passes NaN through") {
  check_special(kNan, 1.f);
  check_special(1.f, -kNan);
}

TEST_CASE("dot keeps infinity, and infinity times 0 is NaN") {
  check_special(kInf, 1.f);
  check_special(kInf, -2.f);
  check_special(kInf, 0.f);
}

TEST_CASE("dot of infinities of both signs is NaN") {
  Floats x = random(5000);
  x.front() = kInf;
  x.back() = -kInf;
  run_and_check(dot_of(x, Floats(5000, 1.f)));
}

TEST_CASE("dot of an array with itself adds up squares") {
  const Floats x = random(5000);
  run_and_check(dot_of(x, x));
}
