// What every argmax() must do, whichever file defines it.
#include "common/classroom/tasks/argmax/argmax.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

bool wins(float a, float b) {
  return std::isnan(b) ? false : std::isnan(a) || a > b;
}

int64_t reference(const Floats& x) {
  int64_t best = x.empty() ? -1 : 0;
  for (int64_t i = 1; i < std::ssize(x); ++i) {
    if (wins(x[i], x[best])) best = i;
  }
  return best;
}

Call argmax_of(const Floats& x, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  int64_t* out = call.writes<int64_t>("out", {reference(x)});
  int64_t* scratch = call.borrows<int64_t>("scratch", argmax_scratch_words(n));
  call.is([=](cudaStream_t stream) { argmax(in, out, n, scratch, stream); });
  return call;
}

// Few different numbers, so that the largest stands in many places.
Floats steps(int64_t n) {
  Floats x = random(n, 0.f, 50.f);
  for (float& v : x) v = std::floor(v);
  return x;
}

const Contract<> kArgmax = of_length(
    "argmax", [](int64_t n, Offsets at) { return argmax_of(steps(n), at); });

// `first` in one place and `second` in a later one, of warps, blocks and tiles.
void check_pairs(float first, float second, float rest) {
  constexpr int64_t kN = 20'001;
  for (const int64_t i : {0, 1, 31, 255, 256, 5000, 19'999}) {
    for (const int64_t away : {1, 31, 32, 64, 256, 1024, 8192, 20'000}) {
      Floats x(kN, rest);
      x[i] = first;
      x[std::min(i + away, kN - 1)] = second;
      run_and_check(argmax_of(x));
    }
  }
}

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kArgmax, one.n, one.offset);
}

TEST_CASE("argmax handles every size") { check_every_size(kArgmax); }

TEST_CASE("argmax handles every offset") { check_every_offset(kArgmax); }

TEST_CASE("argmax handles more elements than a grid has threads") {
  check_more_than_a_grid(kArgmax);
}

TEST_CASE("argmax serves two streams at once") { check_two_streams(kArgmax); }

TEST_CASE("argmax gives back what it takes") { check_gives_back(kArgmax); }

TEST_CASE("argmax queues its work on the stream and returns") {
  check_queueing(kArgmax);
}

TEST_CASE("argmax leaves its work to the GPU") { check_gpu_works(kArgmax); }

TEST_CASE("argmax never writes to its input") {
  check_inputs_are_read_only(kArgmax);
}

TEST_CASE("argmax finds the largest number wherever it stands") {
  for (const int64_t n : kLengths) {
    for (const int64_t i : {int64_t{0}, n / 3, n - 1}) {
      if (n == 0) continue;
      Floats x = random(n);
      x[i] = 2.f;
      run_and_check(argmax_of(x));
    }
  }
}

TEST_CASE("argmax of equal numbers is the lowest index") {
  check_pairs(1.f, 1.f, -1.f);
  check_pairs(0.f, -0.f, -1.f);
  check_pairs(-0.f, 0.f, -1.f);
  for (const int64_t n : kLengths) run_and_check(argmax_of(Floats(n, 7.f)));
}

TEST_CASE("argmax of negative numbers only") {
  for (const int64_t n : kLengths)
    run_and_check(argmax_of(random(n, -2.f, -1.f)));
}

TEST_CASE("argmax of NaN is the first of them") {
  check_pairs(kNan, kNan, 1.f);
  check_pairs(-kNan, kInf, 1.f);
  check_pairs(kInf, kNan, 1.f);
  run_and_check(argmax_of(with({kNan, kInf, -kInf}, random(5000))));
}

TEST_CASE("argmax knows infinity") {
  check_pairs(kInf, Limits::max(), 1.f);
  check_pairs(-kInf, Limits::lowest(), -kInf);
  for (const int64_t n : kLengths) run_and_check(argmax_of(Floats(n, -kInf)));
}

TEST_CASE("argmax tells denormal numbers apart") {
  const float least = Limits::denorm_min();
  check_pairs(least, 2 * least, 0.f);
  check_pairs(-least, 0.f, -2 * least);
}
