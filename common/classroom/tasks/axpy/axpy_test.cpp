// What every axpy() must do, whichever file defines it.
#include "common/classroom/tasks/axpy/axpy.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

Call axpy_of(float a, const Floats& x, const Floats& y, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Floats expected;
  for (int64_t i = 0; i < n; ++i) expected.push_back(std::fma(a, x[i], y[i]));
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.updates("y", y, expected);
  call.is([=](cudaStream_t stream) { axpy(a, in, out, n, stream); });
  return call;
}

const Contract<> kAxpy = of_length("axpy", [](int64_t n, Offsets at) {
  return axpy_of(random(1)[0], random(n), random(n), at);
});

void check_special(float a, const Floats& special) {
  const Floats x = with(special, random(1025)), y = with(special, random(1025));
  check_both_ways([&](Offsets at) { return axpy_of(a, x, y, at); });
}

}  // namespace

void checked_call(const Case& one) { run_and_check(kAxpy, one.n, one.offset); }

TEST_CASE("axpy handles every size") { check_every_size(kAxpy); }

TEST_CASE("axpy handles every offset") { check_every_offset(kAxpy); }

TEST_CASE("axpy handles more elements than a grid has threads") {
  check_more_than_a_grid(kAxpy);
}

TEST_CASE("axpy serves two streams at once") { check_two_streams(kAxpy); }

TEST_CASE("axpy gives back what it takes") { check_gives_back(kAxpy); }

TEST_CASE("axpy queues its work on the stream and returns") {
  check_queueing(kAxpy);
}

TEST_CASE("axpy leaves its work to the GPU") { check_gpu_works(kAxpy); }

TEST_CASE("axpy never writes to its input") {
  check_inputs_are_read_only(kAxpy);
}

TEST_CASE("axpy multiplies by any a, by 0 too") {
  for (const float a : {0.f, -0.f, 1.f, -1.f, 0x1p-20f, 3e38f, kInf, kNan})
    check_special(a, {kInf, -kInf, 0.f, -0.f});
}

TEST_CASE("axpy keeps numbers of every size") {
  const Floats x = sizes(), y = random(std::ssize(x));
  check_both_ways([&](Offsets at) { return axpy_of(0.75f, x, y, at); });
  check_both_ways([&](Offsets at) { return axpy_of(0.75f, y, x, at); });
}

// a x[i] and y[i] are nearly opposite: a product that is rounded shows.
TEST_CASE("axpy rounds once") {
  const float a = 1 / 3.f;
  const Floats x = random(1025, 1.f, 2.f);
  Floats y;
  for (const float v : x) y.push_back(-(a * v));
  check_both_ways([&](Offsets at) { return axpy_of(a, x, y, at); });
}

TEST_CASE("axpy passes NaN through") {
  check_special(0.5f, {kNan, -kNan, Limits::signaling_NaN()});
}

TEST_CASE("axpy keeps denormal numbers") {
  const float least = Limits::denorm_min();
  const float most = std::nextafter(Limits::min(), 0.f);
  check_special(0.5f, {least, -least, most, -most});
}
