// What every reverse() must do, whichever file defines it.
#include "common/classroom/tasks/reverse/reverse.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

Call reverse_of(const Floats& x, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", Floats(x.rbegin(), x.rend()), kMoved);
  call.is([=](cudaStream_t stream) { reverse(in, out, n, stream); });
  return call;
}

const Contract<> kReverse = of_length(
    "reverse", [](int64_t n, Offsets at) { return reverse_of(random(n), at); });

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kReverse, one.n, one.offset);
}

TEST_CASE("reverse handles every size") { check_every_size(kReverse); }

TEST_CASE("reverse handles every offset") { check_every_offset(kReverse); }

TEST_CASE("reverse handles more elements than a grid has threads") {
  check_more_than_a_grid(kReverse);
}

TEST_CASE("reverse serves two streams at once") { check_two_streams(kReverse); }

TEST_CASE("reverse gives back what it takes") { check_gives_back(kReverse); }

TEST_CASE("reverse queues its work on the stream and returns") {
  check_queueing(kReverse);
}

TEST_CASE("reverse leaves its work to the GPU") { check_gpu_works(kReverse); }

TEST_CASE("reverse never writes to its input") {
  check_inputs_are_read_only(kReverse);
}

TEST_CASE("reverse keeps the bits of every number") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  const float least = Limits::denorm_min();
  const Floats x = with({kInf, -kInf, kNan, -kNan, payload,
                         Limits::signaling_NaN(), least, -least, 0.f, -0.f},
                        sizes());
  check_both_ways([&](Offsets at) { return reverse_of(x, at); });
}
