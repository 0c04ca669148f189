// What every relu_mask() and relu_mask_backward() must do, whichever file
// defines them.
#include "common/relu_mask.h"

#include <utility>

#include "tests/masks.h"

namespace {

using namespace contract;

constexpr int64_t kGuards = 64;

float rectified(float x) {
  if (std::isnan(x)) return x;
  return x > 0.f ? x : 0.f;
}

Floats selected(const Floats& dy, const Words& mask) {
  Floats dx(dy.size());
  for (size_t i = 0; i < dy.size(); ++i) dx[i] = bit(mask, i) ? dy[i] : 0.f;
  return dx;
}

// Of the first n numbers of x; what lies after them is not the call's.
Call forward(const Floats& x, int64_t n, Offsets at = {}) {
  const Floats given(x.begin(), x.begin() + n);
  Floats expected;
  for (const float v : given) expected.push_back(rectified(v));
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", expected);
  uint32_t* mask =
      call.writes<uint32_t>("mask", mask_of(given), {.print = hex});
  call.is([=](cudaStream_t stream) { relu_mask(in, out, mask, n, stream); });
  return call;
}

Call backward(const Floats& dy, const Words& bits, Offsets at = {}) {
  const int64_t n = std::ssize(dy);
  Call call(length(n), at);
  const float* in = call.reads("dy", dy);
  float* out = call.writes("dx", selected(dy, bits), kMoved);
  const uint32_t* mask = call.reads("mask", bits);
  call.is([=](cudaStream_t stream) {
    relu_mask_backward(in, mask, out, n, stream);
  });
  return call;
}

const Contract<> kForward = of_length("relu_mask", [](int64_t n, Offsets at) {
  return forward(random(n), n, at);
});
const Contract<> kBackward =
    of_length("relu_mask_backward", [](int64_t n, Offsets at) {
      return backward(random(n), random_mask(n), at);
    });

void check_values(const Floats& x) {
  check_both_ways([&](Offsets at) { return forward(x, std::ssize(x), at); });
}

void check_special(const Floats& special) {
  check_values(with(special, random(1025)));
}

void check_gradients(const Floats& dy, const Words& mask) {
  check_both_ways([&](Offsets at) { return backward(dy, mask, at); });
}

// Output memory whose every bit is set, and some more after it.
template <class T>
class Poisoned : public DeviceArray<T> {
 public:
  explicit Poisoned(int64_t n) : DeviceArray<T>(n + kGuards), n_(n) {
    CUDA_CHECK(cudaMemset(this->data(), 0xff, this->size() * sizeof(T)));
  }
  void check_guards(const std::string& what) const {
    each(this->data() + n_, kGuards, [&](int64_t, int64_t, T got) {
      if (std::bit_cast<uint32_t>(got) != 0xffffffff) {
        FAIL(what, " wrote past its output of ", n_);
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

template <class T>
void check_repeats(const std::string& name, const T* got, int64_t n,
                   const std::vector<T>& period, std::string (*print)(T)) {
  const int64_t i = first_difference(got, n, period);
  if (i == n) return;
  T value;
  CUDA_CHECK(cudaMemcpy(&value, got + i, sizeof(T), cudaMemcpyDeviceToHost));
  FAIL(name, "[", i, "] expected ", print(period[i % std::ssize(period)]),
       ", got ", print(value));
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
  run_and_check(kForward, one.n, one.offset);
  run_and_check(kBackward, one.n, one.offset);
}

TEST_CASE("mask_words rounds up to whole words") {
  CHECK(mask_words(0) == 0);
  CHECK(mask_words(1) == 1);
  CHECK(mask_words(32) == 1);
  CHECK(mask_words(33) == 2);
  CHECK(mask_words(6'422'528) * 4 == 802'816);
  CHECK(mask_words((int64_t{1} << 40) + 1) == (int64_t{1} << 35) + 1);
}

TEST_CASE("relu_mask handles every length") { check_every_size(kForward); }

TEST_CASE("relu_mask handles every pair of offsets") {
  check_every_offset(kForward);
}

TEST_CASE("relu_mask handles more elements than a grid has threads") {
  check_more_than_a_grid(kForward);
}

// What lies past the end of x is positive, too: no bit may come from there.
TEST_CASE("relu_mask sets a bit for each positive number and no other") {
  for (const int64_t n : kForward.sizes) {
    for (int64_t offset = 0; offset < 4; ++offset) {
      const Offsets at(3, offset);
      run_and_check(forward(random(n + 32, 0.5f, 1.f), n, at));
      run_and_check(forward(random(n, -1.f, -0.5f), n, at));
    }
  }
}

TEST_CASE("relu_mask keeps numbers of every size") { check_values(sizes()); }

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
  check_two_streams(kForward);
}

TEST_CASE("relu_mask gives back what it takes") { check_gives_back(kForward); }

TEST_CASE("relu_mask queues its work on the stream and returns") {
  check_queueing(kForward);
}

TEST_CASE("relu_mask leaves its work to the GPU") { check_gpu_works(kForward); }

TEST_CASE("relu_mask never writes to its input") {
  check_inputs_are_read_only(kForward);
}

TEST_CASE("relu_mask_backward handles every length") {
  check_every_size(kBackward);
}

TEST_CASE("relu_mask_backward handles every pair of offsets") {
  check_every_offset(kBackward);
}

TEST_CASE("relu_mask_backward handles more elements than a grid has threads") {
  check_more_than_a_grid(kBackward);
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
  for (const int64_t n : kForward.sizes) {
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
      if (same_bytes(expected, got[i])) continue;
      FAIL("n = ", n, ": x[", i, "] = ", text(x[i]), ", so dx[", i,
           "] is expected to be ", text(expected), ", got ", text(got[i]));
    }
  }
}

TEST_CASE("relu_mask_backward serves two streams at once") {
  check_two_streams(kBackward);
}

TEST_CASE("relu_mask_backward gives back what it takes") {
  check_gives_back(kBackward);
}

TEST_CASE("relu_mask_backward queues its work on the stream and returns") {
  check_queueing(kBackward);
}

TEST_CASE("relu_mask_backward leaves its work to the GPU") {
  check_gpu_works(kBackward);
}

TEST_CASE("relu_mask_backward never writes to its input") {
  check_inputs_are_read_only(kBackward);
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
