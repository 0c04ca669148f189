// What every relu() must do, whichever file defines it.
#include "common/relu.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>

#include "common/harness/checked_call.h"
#include "tests/contract.h"

namespace {

using namespace contract;

const std::vector<int64_t> kShort =
    lengths({0, 1, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025});
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kGuards = 64;
constexpr int64_t kPack = 4;

float reference(float x) {
  if (std::isnan(x)) return x;
  return x > 0.f ? x : 0.f;
}

// Calls of relu(), each on arrays of its own.
class Calls {
 public:
  // x and y start so many floats behind a 256-byte boundary.
  void add(const Floats& values, int64_t x_offset = 0, int64_t y_offset = 0) {
    Floats expected;
    for (const float v : values) expected.push_back(reference(v));
    calls_.push_back({static_cast<int64_t>(values.size()), x_offset, y_offset,
                      x_.add(values, x_offset), y_.add(expected, y_offset)});
  }

  void prepare() {
    x_.upload();
    y_.upload();
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      relu(x_.at(call.x), y_.at(call.y), call.n, stream);
    }
  }

  void close() const { x_.close(); }
  bool untouched() const { return y_.untouched(); }

  // Every word of y is as it must be, guards included, and x as it was.
  void check() const {
    CHECK_MESSAGE(x_.unchanged(), "relu() changed its input");

    const auto trouble = y_.differences("y", same, text);
    const auto wrong = std::find_if(trouble.begin(), trouble.end(),
                                    [](const auto& t) { return !t.empty(); });
    if (wrong == trouble.end()) return;
    const Call& call = calls_[wrong - trouble.begin()];
    FAIL_CHECK("n = ", call.n, ", x at offset ", call.x_offset,
               ", y at offset ", call.y_offset, ": ", *wrong);
  }

 private:
  struct Call {
    int64_t n, x_offset, y_offset;
    int64_t x;
    size_t y;
  };

  std::vector<Call> calls_;
  Inputs<float> x_{kStray};
  Outputs<float> y_{kGuard};
};

void run_and_check(Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

void check_values(const Floats& values) {
  Calls calls;
  calls.add(values);
  run_and_check(calls);
}

// The same where packs can be used and where they cannot.
void check_both_ways(const Floats& values) {
  Calls calls;
  calls.add(values);
  calls.add(values, 1, 1);
  run_and_check(calls);
}

void check_special(const Floats& special) {
  check_both_ways(with(special, random(1025)));
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
      FAIL("relu() wrote behind y[n - 1], n = ", n);
  });
}

}  // namespace

void checked_call(const Case& one) {
  Calls calls;
  calls.add(random(one.n), one.offset, one.offset);
  run_and_check(calls);
}

TEST_CASE("relu handles every length") {
  for (const int64_t n : kShort) check_values(random(n));
  check_values(random(kLong));
}

TEST_CASE("relu handles every pair of offsets") {
  for (const int64_t n : kShort) {
    Calls calls;
    for (int64_t x_offset = 0; x_offset < 8; ++x_offset) {
      for (int64_t y_offset = 0; y_offset < 8; ++y_offset) {
        calls.add(random(n), x_offset, y_offset);
      }
    }
    run_and_check(calls);
  }
}

TEST_CASE("relu handles offsets in a long array") {
  Calls calls;
  calls.add(random(kLong), 1, 1);
  calls.add(random(kLong), 0, 3);
  calls.add(random(kLong), 2, 0);
  calls.add(random(kLong), 4, 8);
  run_and_check(calls);
}

TEST_CASE("relu handles more elements than a grid has threads") {
  const SmallGpu gpu;
  const Floats period = random(kPeriod);
  check_large(period, gpu.more_than_a_grid(kPack), 0);
  check_large(period, gpu.more_than_a_grid(1), 1);
}

TEST_CASE("relu of negative numbers is zero") {
  check_values(random(1025, -1.f, 0.f));
}

TEST_CASE("relu keeps numbers of every size") { check_both_ways(sizes()); }

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

TEST_CASE("relu serves two streams at once") {
  Calls of_one, of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    of_one.add(random(65'537), 0, offset);
    of_two.add(random(65'537), offset, 0);
  }
  check_side_by_side(of_one, of_two);
}

TEST_CASE("relu gives back what it takes") {
  Calls calls;
  calls.add(random(20'001), 1, 1);
  check_gives_back(calls, "relu()");
}

TEST_CASE("relu queues its work on the stream and returns") {
  Calls calls;
  calls.add(random(kLong));
  check_queueing(calls, "relu()");
}

TEST_CASE("relu leaves its work to the GPU") {
  Calls calls;
  calls.add(random(1025));
  check_gpu_works(calls, "relu()");
}

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
  if (is_left_to_the_executor()) return;
  Calls calls;
  for (const int64_t n : kShort) {
    calls.add(random(n));
    calls.add(random(n), 1, 1);
  }
  check_inputs_are_read_only(calls);
}
