// What every relu_mask() and relu_mask_backward() must do, whichever file
// defines them.
#include "common/relu_mask.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <utility>

#include "common/harness/checked_call.h"
#include "tests/contract.h"

namespace {

using namespace contract;

using Words = std::vector<uint32_t>;

const std::vector<int64_t> kShort =
    lengths({0,   1,   3,   4,   5,   31,   32,   33,   63,   64,   65,  127,
             128, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097});
constexpr int64_t kLong = 1'000'003;
constexpr int64_t kGuards = 64;
constexpr int64_t kPack = 4;

constexpr uint32_t kGuardWord = 0xdeadbeef;
constexpr uint32_t kStrayWord = 0xffffffff;  // Around a mask that is read.

float rectified(float x) {
  if (std::isnan(x)) return x;
  return x > 0.f ? x : 0.f;
}

bool bit(const Words& mask, int64_t i) { return mask[i / 32] >> (i % 32) & 1; }

Words mask_of(const Floats& x) {
  Words mask(mask_words(static_cast<int64_t>(x.size())));
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0.f) mask[i / 32] |= 1u << (i % 32);
  }
  return mask;
}

// Of no x in particular; nothing behind bit n - 1.
Words random_mask(int64_t n) {
  static std::mt19937 bits(seed() + 3);
  Words mask(mask_words(n));
  for (uint32_t& word : mask) word = bits();
  if (n % 32 != 0) mask.back() &= (1u << (n % 32)) - 1;
  return mask;
}

Floats selected(const Floats& dy, const Words& mask) {
  Floats dx(dy.size());
  for (size_t i = 0; i < dy.size(); ++i) dx[i] = bit(mask, i) ? dy[i] : 0.f;
  return dx;
}

// What is only selected keeps every bit, those of a NaN too.
bool identical(float expected, float got) {
  return std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(got);
}

bool equal(uint32_t expected, uint32_t got) { return expected == got; }

std::string hex(uint32_t word) {
  char line[64];
  std::snprintf(line, sizeof line, "0x%08x%s", word,
                word == kGuardWord ? ", as before the call" : "");
  return line;
}

// How far behind a 256-byte boundary the arrays of a call start, in elements:
// the floats it reads, those it writes, and the mask.
struct Offsets {
  int64_t in = 0, out = 0, mask = 0;
};

struct Call {
  int64_t n;
  Offsets offsets;
  int64_t in;    // Where the floats that it reads begin.
  size_t out;    // The number of the floats that it writes.
  int64_t mask;  // Where the mask begins, or its number.
};

// Tells of the first call that has something in its place of `trouble`.
void report(const std::vector<Call>& calls,
            const std::vector<std::string>& trouble) {
  const auto wrong = std::find_if(trouble.begin(), trouble.end(),
                                  [](const auto& t) { return !t.empty(); });
  if (wrong == trouble.end()) return;
  const Call& call = calls[wrong - trouble.begin()];
  FAIL_CHECK("n = ", call.n, ", input at offset ", call.offsets.in,
             ", output at ", call.offsets.out, ", mask at ", call.offsets.mask,
             ": ", *wrong);
}

// Calls of relu_mask(), each on arrays of its own.
class Forward {
 public:
  static constexpr char kName[] = "relu_mask()";

  void add(const Floats& x, Offsets at = {}) {
    Floats y;
    for (const float v : x) y.push_back(rectified(v));
    calls_.push_back({static_cast<int64_t>(x.size()), at, x_.add(x, at.in),
                      y_.add(y, at.out),
                      static_cast<int64_t>(mask_.add(mask_of(x), at.mask))});
  }
  void add_random(int64_t n, Offsets at = {}) { add(random(n), at); }

  void prepare() {
    x_.upload();
    y_.upload();
    mask_.upload();
    // A copy from pageable memory may still be on its way.
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      relu_mask(x_.at(call.in), y_.at(call.out), mask_.at(call.mask), call.n,
                stream);
    }
  }

  void close() const { x_.close(); }
  bool untouched() const { return y_.untouched() && mask_.untouched(); }

  // Every word of y and mask is as it must be, guards included, and x as it
  // was.
  void check() const {
    CHECK_MESSAGE(x_.unchanged(), "relu_mask() changed its input");
    report(calls_, y_.differences("y", same, text));
    report(calls_, mask_.differences("mask", equal, hex));
  }

 private:
  std::vector<Call> calls_;
  Inputs<float> x_{kStray};
  Outputs<float> y_{kGuard};
  Outputs<uint32_t> mask_{kGuardWord};
};

// Calls of relu_mask_backward(), likewise.
class Backward {
 public:
  static constexpr char kName[] = "relu_mask_backward()";

  void add(const Floats& dy, const Words& mask, Offsets at = {}) {
    calls_.push_back({static_cast<int64_t>(dy.size()), at, dy_.add(dy, at.in),
                      dx_.add(selected(dy, mask), at.out),
                      mask_.add(mask, at.mask)});
  }
  void add_random(int64_t n, Offsets at = {}) {
    add(random(n), random_mask(n), at);
  }

  void prepare() {
    dy_.upload();
    dx_.upload();
    mask_.upload();
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream) const {
    for (const Call& call : calls_) {
      relu_mask_backward(dy_.at(call.in), mask_.at(call.mask), dx_.at(call.out),
                         call.n, stream);
    }
  }

  void close() const {
    dy_.close();
    mask_.close();
  }
  bool untouched() const { return dx_.untouched(); }

  void check() const {
    CHECK_MESSAGE(dy_.unchanged(), "relu_mask_backward() changed dy");
    CHECK_MESSAGE(mask_.unchanged(), "relu_mask_backward() changed its mask");
    report(calls_, dx_.differences("dx", identical, text));
  }

 private:
  std::vector<Call> calls_;
  Inputs<float> dy_{kStray};
  Inputs<uint32_t> mask_{kStrayWord};
  Outputs<float> dx_{kGuard};
};

template <class Calls>
void run_and_check(Calls& calls) {
  const Stream stream;
  calls.prepare();
  calls.launch(stream);
  stream.finish();
  calls.check();
}

// One call an allocation: each array ends where its memory ends.
template <class Calls>
void check_every_length() {
  for (const int64_t n : kShort) {
    Calls calls;
    calls.add_random(n);
    run_and_check(calls);
  }
  Calls calls;
  calls.add_random(kLong);
  run_and_check(calls);
}

template <class Calls>
void check_every_pair_of_offsets() {
  for (const int64_t n : kShort) {
    Calls calls;
    for (int64_t in = 0; in < 8; ++in) {
      for (int64_t out = 0; out < 8; ++out) {
        calls.add_random(n, {in, out, (in + 3 * out) % 4});
      }
    }
    run_and_check(calls);
  }
}

template <class Calls>
void check_offsets_in_a_long_array() {
  Calls calls;
  calls.add_random(kLong, {1, 1, 0});
  calls.add_random(kLong, {0, 3, 1});
  calls.add_random(kLong, {2, 0, 2});
  calls.add_random(kLong, {4, 8, 3});
  run_and_check(calls);
}

template <class Calls>
void check_two_streams() {
  Calls of_one, of_two;
  for (int64_t offset = 0; offset < 4; ++offset) {
    of_one.add_random(65'537, {0, offset, offset});
    of_two.add_random(65'537, {offset, 0, offset});
  }
  check_side_by_side(of_one, of_two);
}

template <class Calls>
Calls one_call(int64_t n) {
  Calls calls;
  calls.add_random(n, {1, 1, 1});
  return calls;
}

template <class Calls>
void check_inputs_of_every_length() {
  if (is_left_to_the_executor()) return;
  Calls calls;
  for (const int64_t n : kShort) {
    calls.add_random(n);
    calls.add_random(n, {1, 1, 1});
  }
  check_inputs_are_read_only(calls);
}

// The same where packs can be used and where they cannot.
void check_both_ways(const Floats& x) {
  Forward calls;
  calls.add(x);
  calls.add(x, {1, 1, 1});
  run_and_check(calls);
}

void check_special(const Floats& special) {
  check_both_ways(with(special, random(1025)));
}

void check_gradients(const Floats& dy, const Words& mask) {
  Backward calls;
  calls.add(dy, mask);
  calls.add(dy, mask, {1, 1, 1});
  run_and_check(calls);
}

// Output memory whose every bit is set, and some more behind it.
template <class T>
class Poisoned : public DeviceArray<T> {
 public:
  explicit Poisoned(int64_t n) : DeviceArray<T>(n + kGuards), n_(n) {
    CUDA_CHECK(cudaMemset(this->data(), 0xff, this->size() * sizeof(T)));
  }
  void check_guards(const std::string& what) const {
    each(this->data() + n_, kGuards, [&](int64_t, int64_t, T got) {
      if (std::bit_cast<uint32_t>(got) != 0xffffffff) {
        FAIL(what, " wrote behind its output of ", n_);
      }
    });
  }

 private:
  int64_t n_;
};

// Those of `period`, repeated n / kPeriod times or more: since 32 does not
// divide kPeriod, the words are a period of as many words.
Words masks_of(const Floats& period, int64_t n) {
  Words mask(std::min(mask_words(n), kPeriod));
  for (int64_t w = 0, phase = 0; w < std::ssize(mask); ++w) {
    for (int64_t i = 32 * w; i < 32 * (w + 1); ++i) {
      mask[w] |= uint32_t{period[phase] > 0.f} << (i % 32);
      if (++phase == kPeriod) phase = 0;
    }
  }
  return mask;
}

template <class T, class Text>
void check_repeats(const std::string& name, const T* got, int64_t n,
                   const std::vector<T>& period, Text text) {
  const int64_t i = first_difference(got, n, period);
  if (i == n) return;
  T value;
  CUDA_CHECK(cudaMemcpy(&value, got + i, sizeof(T), cudaMemcpyDeviceToHost));
  FAIL(name, "[", i, "] expected ", text(period[i % std::ssize(period)]),
       ", got ", text(value));
}

// The whole words of a mask, and what is left of the last.
void check_mask(const uint32_t* mask, int64_t n, const Words& period) {
  check_repeats("mask", mask, n / 32, period, hex);
  if (n % 32 == 0) return;
  const uint32_t last = period[n / 32 % std::ssize(period)];
  check_repeats("mask of the last", mask + n / 32, 1,
                Words{last & ((1u << (n % 32)) - 1)}, hex);
}

// One relu_mask() on arrays that the host never holds whole: `period` repeated.
void check_large_forward(const Floats& period, int64_t n, int64_t offset) {
  INFO("n = ", n, ", x and y at offset ", offset);
  const DeviceArray<float> x(offset + n);
  const Poisoned<float> y(offset + n);
  const Poisoned<uint32_t> mask(mask_words(n));
  fill(x.data() + offset, n, period);
  relu_mask(x.data() + offset, y.data() + offset, mask.data(), n, nullptr);

  Floats expected;
  for (const float v : period) expected.push_back(rectified(v));
  check_repeats("y", y.data() + offset, n, expected, text);
  check_mask(mask.data(), n, masks_of(period, n));
  y.check_guards("relu_mask()");
  mask.check_guards("relu_mask()");
}

// The same backward: the mask is that of `period`, dy a period of its own.
void check_large_backward(const Floats& period, int64_t n, int64_t offset) {
  INFO("n = ", n, ", dy and dx at offset ", offset);
  const Floats gradients = random(kPeriod);
  const DeviceArray<float> dy(offset + n);
  const DeviceArray<uint32_t> mask(mask_words(n));
  const Poisoned<float> dx(offset + n);
  fill(dy.data() + offset, n, gradients);
  fill(mask.data(), mask.size(), masks_of(period, n));
  relu_mask_backward(dy.data() + offset, mask.data(), dx.data() + offset, n,
                     nullptr);

  Floats expected;
  for (int64_t i = 0; i < kPeriod; ++i)
    expected.push_back(period[i] > 0.f ? gradients[i] : 0.f);
  check_repeats("dx", dx.data() + offset, n, expected, text);
  dx.check_guards("relu_mask_backward()");
}

bool has_memory_for(int64_t n) {
  return has_memory(2 * n * sizeof(float) + mask_words(n) * sizeof(uint32_t));
}

}  // namespace

void checked_call(const Case& one) {
  Forward forward;
  forward.add_random(one.n, {one.offset, one.offset});
  run_and_check(forward);
  Backward backward;
  backward.add_random(one.n, {one.offset, one.offset});
  run_and_check(backward);
}

TEST_CASE("mask_words rounds up to whole words") {
  CHECK(mask_words(0) == 0);
  CHECK(mask_words(1) == 1);
  CHECK(mask_words(32) == 1);
  CHECK(mask_words(33) == 2);
  CHECK(mask_words(6'422'528) * 4 == 802'816);
  CHECK(mask_words((int64_t{1} << 40) + 1) == (int64_t{1} << 35) + 1);
}

TEST_CASE("relu_mask handles every length") { check_every_length<Forward>(); }

TEST_CASE("relu_mask handles every pair of offsets") {
  check_every_pair_of_offsets<Forward>();
}

TEST_CASE("relu_mask handles offsets in a long array") {
  check_offsets_in_a_long_array<Forward>();
}

TEST_CASE("relu_mask handles more elements than a grid has threads") {
  const SmallGpu gpu;
  const Floats period = random(kPeriod);
  check_large_forward(period, gpu.more_than_a_grid(kPack), 0);
  check_large_forward(period, gpu.more_than_a_grid(1), 1);
}

// What lies behind the end of x is positive, too: no bit may come from there.
TEST_CASE("relu_mask sets a bit for each positive number and no other") {
  for (const int64_t n : kShort) {
    Forward calls;
    for (int64_t offset = 0; offset < 4; ++offset) {
      calls.add(random(n, 0.5f, 1.f), {offset, offset, offset});
      calls.add(random(n, -1.f, -0.5f), {offset, offset, offset});
    }
    run_and_check(calls);
  }
}

TEST_CASE("relu_mask keeps numbers of every size") { check_both_ways(sizes()); }

TEST_CASE("relu_mask passes NaN through, and its bit is 0") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  check_special({kNan, -kNan, payload, Limits::signaling_NaN()});
}

TEST_CASE("relu_mask keeps infinity") { check_special({kInf, -kInf}); }

TEST_CASE("relu_mask keeps denormal numbers") {
  const float least = Limits::denorm_min();
  const float most = std::nextafter(Limits::min(), 0.f);
  check_special({least, -least, most, -most});
}

TEST_CASE("relu_mask never returns -0") { check_special({0.f, -0.f}); }

TEST_CASE("relu_mask serves two streams at once") {
  check_two_streams<Forward>();
}

TEST_CASE("relu_mask gives back what it takes") {
  auto calls = one_call<Forward>(20'001);
  check_gives_back(calls, Forward::kName);
}

TEST_CASE("relu_mask queues its work on the stream and returns") {
  auto calls = one_call<Forward>(kLong);
  check_queueing(calls, Forward::kName);
}

TEST_CASE("relu_mask leaves its work to the GPU") {
  auto calls = one_call<Forward>(1025);
  check_gpu_works(calls, Forward::kName);
}

TEST_CASE("relu_mask_backward handles every length") {
  check_every_length<Backward>();
}

TEST_CASE("relu_mask_backward handles every pair of offsets") {
  check_every_pair_of_offsets<Backward>();
}

TEST_CASE("relu_mask_backward handles offsets in a long array") {
  check_offsets_in_a_long_array<Backward>();
}

TEST_CASE("relu_mask_backward handles more elements than a grid has threads") {
  const SmallGpu gpu;
  const Floats period = random(kPeriod);
  check_large_backward(period, gpu.more_than_a_grid(kPack), 0);
  check_large_backward(period, gpu.more_than_a_grid(1), 1);
}

TEST_CASE("relu_mask_backward obeys each bit") {
  for (int64_t i = 0; i < 65; ++i) {
    Words none(3), one(3), all_but_one = {0xffffffff, 0xffffffff, 1};
    one[i / 32] |= 1u << (i % 32);
    all_but_one[i / 32] &= ~(1u << (i % 32));
    for (const Words& mask : {none, one, all_but_one}) {
      check_gradients(random(65), mask);
    }
  }
}

TEST_CASE("relu_mask_backward gives 0 where the bit is 0, whatever dy is") {
  const Floats special = {kInf, -kInf, kNan, -kNan, -0.f, -1.f};
  check_gradients(with(special, random(1025)), Words(mask_words(1025)));
  check_gradients(with(special, random(1025)), random_mask(1025));
}

TEST_CASE("relu_mask_backward keeps gradients of every size") {
  const Floats dy = sizes();
  check_gradients(dy, mask_of(Floats(dy.size(), 1.f)));
}

TEST_CASE("relu_mask_backward passes dy on as it is where the bit is 1") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  const float least = Limits::denorm_min();
  const Floats special = {kInf,  -kInf,  kNan, payload, Limits::signaling_NaN(),
                          least, -least, 0.f,  -0.f};
  check_gradients(with(special, random(1025)), mask_of(Floats(1025, 1.f)));
}

TEST_CASE("relu_mask_backward undoes relu_mask where x was not positive") {
  const Floats special = {kInf, -kInf, kNan, 0.f, -0.f};
  for (const int64_t n : kShort) {
    const Floats x = with(special, random(n)), dy = with(special, random(n));
    const DeviceArray<float> device_x(x), device_dy(dy);
    const DeviceArray<float> y(n), dx(n);
    const DeviceArray<uint32_t> mask(mask_words(n));
    const Stream stream;
    CUDA_CHECK(cudaDeviceSynchronize());
    relu_mask(device_x.data(), y.data(), mask.data(), n, stream);
    relu_mask_backward(device_dy.data(), mask.data(), dx.data(), n, stream);
    stream.finish();
    const Floats got = dx.to_host();
    for (int64_t i = 0; i < n; ++i) {
      const float expected = x[i] > 0.f ? dy[i] : 0.f;
      if (identical(expected, got[i])) continue;
      FAIL("n = ", n, ": x[", i, "] = ", text(x[i]), ", so dx[", i,
           "] is expected to be ", text(expected), ", got ", text(got[i]));
    }
  }
}

TEST_CASE("relu_mask_backward serves two streams at once") {
  check_two_streams<Backward>();
}

TEST_CASE("relu_mask_backward gives back what it takes") {
  auto calls = one_call<Backward>(20'001);
  check_gives_back(calls, Backward::kName);
}

TEST_CASE("relu_mask_backward queues its work on the stream and returns") {
  auto calls = one_call<Backward>(kLong);
  check_queueing(calls, Backward::kName);
}

TEST_CASE("relu_mask_backward leaves its work to the GPU") {
  auto calls = one_call<Backward>(1025);
  check_gpu_works(calls, Backward::kName);
}

TEST_CASE("relu_mask handles more than 2^31 elements, and backward too") {
  if (is_left_to_a_gpu()) return;
  const Floats period = random(kPeriod);
  for (const auto& [n, offset] : {std::pair{(int64_t{1} << 31) + 5, 0},
                                  std::pair{(int64_t{1} << 31) + 5, 1},
                                  std::pair{(int64_t{1} << 32) + 7, 0}}) {
    if (!has_memory_for(n)) continue;
    check_large_forward(period, n, offset);
    check_large_backward(period, n, offset);
  }
}

TEST_CASE("relu_mask never writes to its input") {
  check_inputs_of_every_length<Forward>();
}

TEST_CASE("relu_mask_backward never writes to its input") {
  check_inputs_of_every_length<Backward>();
}
