// What every relu() must do, whichever file defines it.
#include "common/relu.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <future>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/device_array.h"

namespace {

using Floats = std::vector<float>;
using Limits = std::numeric_limits<float>;

constexpr float kGuard = -12345.f;  // Around y; no relu() can produce it.
constexpr float kStray = 54321.f;   // Around x; seen in y, it was read.
constexpr int64_t kGuards = 64;
constexpr int64_t kLine = 64;  // Floats between two 256-byte boundaries.
constexpr int kShown = 5;

constexpr float kInf = Limits::infinity();
constexpr float kNan = Limits::quiet_NaN();

constexpr int64_t kShort[] = {0,  1,   3,   4,   5,    31,   32,
                              33, 255, 256, 257, 1023, 1024, 1025};
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kPeriod = 4'194'301;  // A prime: no shift looks right.

float reference(float x) {
  if (std::isnan(x)) return x;
  return x > 0.f ? x : 0.f;
}

bool same(float expected, float got) {
  if (std::isnan(expected)) return std::isnan(got);
  return std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(got);
}

std::string text(float v) {
  char line[64];
  std::snprintf(line, sizeof line, "%.9g (0x%08x)%s", v,
                std::bit_cast<uint32_t>(v),
                v == kGuard ? ", as before the call" : "");
  return line;
}

// Every call of random() goes on where the one before stopped.
Floats random(int64_t n, float low = -1.f, float high = 1.f) {
  static std::mt19937 bits(1);
  Floats values(n);
  for (float& v : values) {
    v = low + (high - low) * static_cast<float>(bits() >> 8) * 0x1p-24f;
  }
  return values;
}

// Random numbers with `special` values strewn in, one in three on average.
Floats with(const Floats& special, int64_t n) {
  static std::mt19937 bits(2);
  Floats values = random(n);
  for (float& v : values) {
    if (bits() % 3 == 0) v = special[bits() % special.size()];
  }
  return values;
}

int64_t next_line(size_t size) {
  return (static_cast<int64_t>(size) + kLine - 1) / kLine * kLine;
}

// Calls of relu() on arrays that lie side by side, each in words of its own.
// The last x ends where its allocation ends.
class Calls {
 public:
  // x and y start so many floats behind a 256-byte boundary.
  void add(const Floats& values, int64_t x_offset = 0, int64_t y_offset = 0) {
    const auto n = static_cast<int64_t>(values.size());
    Call call{n, x_offset, y_offset};
    call.x_begin = next_line(x_.size()) + x_offset;
    x_.resize(call.x_begin, kStray);
    x_.insert(x_.end(), values.begin(), values.end());

    call.first_word = static_cast<int64_t>(y_.size());
    call.y_begin = next_line(y_.size() + kGuards) + y_offset;
    y_.resize(call.y_begin, kGuard);
    for (const float v : values) y_.push_back(reference(v));
    y_.resize(y_.size() + kGuards, kGuard);
    call.last_word = static_cast<int64_t>(y_.size()) - 1;
    calls_.push_back(call);
  }

  void prepare() {
    device_x_ = std::make_unique<DeviceArray<float>>(x_);
    device_y_ = std::make_unique<DeviceArray<float>>(Floats(y_.size(), kGuard));
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      relu(device_x_->data() + call.x_begin, device_y_->data() + call.y_begin,
           call.n, stream);
    }
  }

  bool untouched() const {
    const Floats y = device_y_->to_host();
    return std::all_of(y.begin(), y.end(), [](float v) { return v == kGuard; });
  }

  // Every word of y is as it must be, guards included, and x as it was.
  void check() const {
    const Floats x = device_x_->to_host();
    CHECK_MESSAGE(
        std::memcmp(x.data(), x_.data(), x.size() * sizeof(float)) == 0,
        "relu() changed its input");

    const Floats y = device_y_->to_host();
    std::string first;
    size_t wrong_calls = 0;
    for (const Call& call : calls_) {
      const std::string trouble = compare(call, y);
      if (trouble.empty()) continue;
      if (wrong_calls++ == 0) first = trouble;
    }
    CHECK_MESSAGE(wrong_calls == 0, wrong_calls, " of ", calls_.size(),
                  " calls went wrong, the first with ", first);
  }

 private:
  struct Call {
    int64_t n, x_offset, y_offset;
    int64_t x_begin = 0, y_begin = 0;
    int64_t first_word = 0, last_word = 0;  // Its part of y_, guards included.
  };

  // The first differences, or nothing.
  std::string compare(const Call& call, const Floats& y) const {
    std::string lines;
    int64_t wrong = 0;
    for (int64_t i = call.first_word; i <= call.last_word; ++i) {
      if (same(y_[i], y[i])) continue;
      if (++wrong > kShown) continue;
      const int64_t index = i - call.y_begin;
      lines +=
          "\n  y[" + std::to_string(index) + "] expected " +
          (index < 0 || index >= call.n ? "to be left alone" : text(y_[i])) +
          ", got " + text(y[i]);
    }
    if (wrong == 0) return {};
    return "n = " + std::to_string(call.n) + ", x at offset " +
           std::to_string(call.x_offset) + ", y at offset " +
           std::to_string(call.y_offset) + ": " + std::to_string(wrong) +
           " wrong" + lines;
  }

  std::vector<Call> calls_;
  Floats x_, y_;  // What x holds before and after, and y after the calls.
  std::unique_ptr<DeviceArray<float>> device_x_, device_y_;
};

struct Stream {
  Stream() {
    CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
  }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void finish() const { CUDA_CHECK(cudaStreamSynchronize(handle)); }
  operator cudaStream_t() const { return handle; }

  cudaStream_t handle = nullptr;
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
void check_special(const Floats& special) {
  const Floats values = with(special, 1025);
  Calls calls;
  calls.add(values);
  calls.add(values, 1, 1);
  run_and_check(calls);
}

// Holds a stream's work back until it is opened or two seconds have passed.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    CUDA_CHECK(cudaLaunchHostFunc(stream, wait, this));
  }
  void open() { opened_.set_value(); }

  // The CPU executor does work when it is queued: nothing can be held back.
  bool holds() const { return !ran_at_once_; }
  bool gave_up() const { return gave_up_; }

 private:
  static void wait(void* p) {
    auto* gate = static_cast<Gate*>(p);
    gate->ran_at_once_ = std::this_thread::get_id() == gate->maker_;
    if (gate->ran_at_once_) return;
    gate->gave_up_ = gate->open_.wait_for(std::chrono::seconds(2)) ==
                     std::future_status::timeout;
  }

  const std::thread::id maker_ = std::this_thread::get_id();
  std::atomic<bool> ran_at_once_ = false, gave_up_ = false;
  std::promise<void> opened_;
  std::future<void> open_ = opened_.get_future();
};

bool work_is_done_when_queued() {
  const Stream stream;
  Gate gate(stream);
  gate.open();
  stream.finish();
  return !gate.holds();
}

// One relu() on arrays that the host never holds whole: `period` repeated.
void check_large(const Floats& period, int64_t n, int64_t offset) {
  const auto length = static_cast<int64_t>(period.size());
  const DeviceArray<float> x(offset + n), y(offset + n + kGuards);
  for (int64_t i = 0; i < n; i += length) {
    CUDA_CHECK(cudaMemcpy(x.data() + offset + i, period.data(),
                          std::min(length, n - i) * sizeof(float),
                          cudaMemcpyHostToDevice));
  }
  CUDA_CHECK(cudaMemset(y.data(), 0xff, y.size() * sizeof(float)));
  relu(x.data() + offset, y.data() + offset, n, nullptr);

  Floats got(length);
  for (int64_t i = 0; i < n; i += length) {
    const int64_t part = std::min(length, n - i);
    CUDA_CHECK(cudaMemcpy(got.data(), y.data() + offset + i,
                          part * sizeof(float), cudaMemcpyDeviceToHost));
    for (int64_t j = 0; j < part; ++j) {
      if (same(reference(period[j]), got[j])) continue;
      FAIL("n = ", n, ", both at offset ", offset, ": y[", i + j, "] expected ",
           text(reference(period[j])), ", got ", text(got[j]));
    }
  }
  CUDA_CHECK(cudaMemcpy(got.data(), y.data() + offset + n,
                        kGuards * sizeof(float), cudaMemcpyDeviceToHost));
  const bool guarded = std::all_of(
      got.begin(), got.begin() + kGuards,
      [](float v) { return std::bit_cast<uint32_t>(v) == 0xffffffff; });
  CHECK_MESSAGE(guarded, "relu() wrote behind y[n - 1], n = ", n);
}

}  // namespace

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

// More packs than 32 waves have threads on any GPU so far, so that a capped
// grid has to come back for more.
TEST_CASE("relu handles more elements than a grid has threads") {
  const Floats period = random(kPeriod);
  check_large(period, 48'000'017, 0);
  check_large(period, 12'000'017, 1);
}

TEST_CASE("relu of negative numbers is zero") {
  check_values(random(1025, -1.f, 0.f));
}

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
  const Stream one, two;
  Calls calls_of_one, calls_of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    calls_of_one.add(random(65'537), 0, offset);
    calls_of_two.add(random(65'537), offset, 0);
  }
  calls_of_one.prepare();
  calls_of_two.prepare();
  Gate gate_of_one(one), gate_of_two(two);
  calls_of_one.launch(one);
  calls_of_two.launch(two);
  gate_of_one.open();
  gate_of_two.open();
  one.finish();
  two.finish();
  calls_of_one.check();
  calls_of_two.check();
}

TEST_CASE("relu queues its work on the stream and returns") {
  const Stream stream;
  Calls calls;
  calls.add(random(kLong));
  calls.prepare();
  calls.launch(stream);  // Loading a kernel for the first time may wait.
  stream.finish();
  calls.prepare();

  Gate gate(stream);
  calls.launch(stream);
  if (gate.holds()) {  // Else there is nothing to see but the result.
    CHECK_MESSAGE(!gate.gave_up(), "relu() waited for the stream's work");
    CHECK_MESSAGE(calls.untouched(), "relu() worked outside of the stream");
  }
  gate.open();
  stream.finish();
  calls.check();
}

TEST_CASE("relu handles more than 2^31 elements" * doctest::skip()) {
  if (work_is_done_when_queued()) {
    MESSAGE("Skipped: it takes a GPU.");
    return;
  }
  const Floats period = random(kPeriod);
  for (const auto& [n, offset] : {std::pair{(int64_t{1} << 31) + 5, 0},
                                  std::pair{(int64_t{1} << 31) + 5, 1},
                                  std::pair{(int64_t{1} << 32) + 7, 0}}) {
    size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const size_t needed = 2 * (n + kLine) * sizeof(float) + (64 << 20);
    if (free < needed) {
      MESSAGE("Skipped n = ", n, ": ", needed >> 20, " MiB are needed and ",
              free >> 20, " MiB free.");
      continue;
    }
    check_large(period, n, offset);
  }
}
