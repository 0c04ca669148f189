// What every histogram() must do, whichever file defines it.
#include "common/classroom/tasks/histogram/histogram.h"

#include "tests/every_contract.h"

namespace {

using namespace contract;

using Bytes = std::vector<uint8_t>;

constexpr int kBins = 256;

Call histogram_of(const Bytes& x, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  std::vector<uint32_t> expected(kBins);
  for (const uint8_t v : x) ++expected[v];
  Call call(length(n), at);
  const uint8_t* in = call.reads("x", x);
  uint32_t* counts = call.writes("counts", expected);
  call.is([=](cudaStream_t stream) { histogram(in, counts, n, stream); });
  return call;
}

Bytes random_bytes(int64_t n) {
  Bytes x;
  for (const float v : random(n, 0.f, kBins))
    x.push_back(static_cast<uint8_t>(v));
  return x;
}

const Contract<> kHistogram = of_length(
    "histogram",
    [](int64_t n, Offsets at) { return histogram_of(random_bytes(n), at); },
    16);

void check(const Bytes& x) {
  check_both_ways([&](Offsets at) { return histogram_of(x, at); });
}

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kHistogram, one.n, one.offset);
}

TEST_CASE("histogram handles every size") { check_every_size(kHistogram); }

TEST_CASE("histogram handles every offset") { check_every_offset(kHistogram); }

TEST_CASE("histogram handles more elements than a grid has threads") {
  check_more_than_a_grid(kHistogram);
}

TEST_CASE("histogram serves two streams at once") {
  check_two_streams(kHistogram);
}

TEST_CASE("histogram gives back what it takes") {
  check_gives_back(kHistogram);
}

TEST_CASE("histogram queues its work on the stream and returns") {
  check_queueing(kHistogram);
}

TEST_CASE("histogram leaves its work to the GPU") {
  check_gpu_works(kHistogram);
}

TEST_CASE("histogram never writes to its input") {
  check_inputs_are_read_only(kHistogram);
}

TEST_CASE("histogram counts each byte by itself") {
  for (int v = 0; v < kBins; ++v) check(Bytes(97, static_cast<uint8_t>(v)));
}

TEST_CASE("histogram loses none of equal bytes") {
  for (const uint8_t v : {0, 127, 128, 255}) check(Bytes(100'003, v));
}

TEST_CASE("histogram counts bytes in order") {
  Bytes x;
  for (int64_t i = 0; i < 100'003; ++i) x.push_back(static_cast<uint8_t>(i));
  check(x);
  std::sort(x.begin(), x.end());
  check(x);
}
