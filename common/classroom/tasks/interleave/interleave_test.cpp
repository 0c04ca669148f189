// What every interleave() must do, whichever file defines it.
#include "common/classroom/tasks/interleave/interleave.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

Call interleave_of(const Floats& x, const Floats& y, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Floats expected;
  for (int64_t i = 0; i < n; ++i) expected.insert(expected.end(), {x[i], y[i]});
  Call call(length(n), at);
  const float* in_x = call.reads("x", x);
  const float* in_y = call.reads("y", y);
  float* pairs = call.writes("pairs", expected, kMoved);
  call.is(
      [=](cudaStream_t stream) { interleave(in_x, in_y, pairs, n, stream); });
  return call;
}

const Contract<> kInterleave =
    of_length("interleave", [](int64_t n, Offsets at) {
      return interleave_of(random(n), random(n), at);
    });

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kInterleave, one.n, one.offset);
}

TEST_CASE("interleave handles every size") { check_every_size(kInterleave); }

TEST_CASE("interleave handles every offset") {
  check_every_offset(kInterleave);
}

TEST_CASE("interleave handles more elements than a grid has threads") {
  check_more_than_a_grid(kInterleave);
}

TEST_CASE("interleave serves two streams at once") {
  check_two_streams(kInterleave);
}

TEST_CASE("interleave gives back what it takes") {
  check_gives_back(kInterleave);
}

TEST_CASE("interleave queues its work on the stream and returns") {
  check_queueing(kInterleave);
}

TEST_CASE("interleave leaves its work to the GPU") {
  check_gpu_works(kInterleave);
}

TEST_CASE("interleave never writes to its input") {
  check_inputs_are_read_only(kInterleave);
}

TEST_CASE("interleave uses packs only where all three arrays allow them") {
  for (const Offsets& at : {Offsets{1}, Offsets{0, 1}, Offsets{0, 0, 1},
                            Offsets{2, 2, 2}, Offsets{0, 0, 2}}) {
    for (const int64_t n : {7, 64, 1026})
      run_and_check(interleave_of(random(n), random(n), at));
  }
}

TEST_CASE("interleave keeps the bits of every number") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  const float least = Limits::denorm_min();
  const Floats special = {kInf,  -kInf,  kNan, payload, Limits::signaling_NaN(),
                          least, -least, 0.f,  -0.f};
  const Floats x = with(special, sizes()), y = with(special, sizes());
  check_both_ways([&](Offsets at) { return interleave_of(x, y, at); });
}
