// What every leaky_relu_mask() and leaky_relu_mask_backward() must do,
// whichever file defines them.
#include "common/classroom/tasks/leaky_relu_mask/leaky_relu_mask.h"

#include "tests/masks.h"

namespace {

using namespace contract;

constexpr float kSlope = 0.0625f;

// v where the bit is 1, elsewhere slope times v.
Floats leaked(const Floats& values, const Words& mask, float slope) {
  Floats y;
  for (const float v : values)
    y.push_back(bit(mask, std::ssize(y)) ? v : slope * v);
  return y;
}

Call forward(const Floats& x, float slope, Offsets at = {}) {
  const int64_t n = std::ssize(x);
  const Words bits = mask_of(x);
  Call call(length(n), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", leaked(x, bits, slope));
  uint32_t* mask = call.writes<uint32_t>("mask", bits, {.print = hex});
  call.is([=](cudaStream_t stream) {
    leaky_relu_mask(in, out, mask, slope, n, stream);
  });
  return call;
}

Call backward(const Floats& dy, const Words& bits, float slope,
              Offsets at = {}) {
  const int64_t n = std::ssize(dy);
  Call call(length(n), at);
  const float* in = call.reads("dy", dy);
  float* out = call.writes("dx", leaked(dy, bits, slope));
  const uint32_t* mask = call.reads("mask", bits);
  call.is([=](cudaStream_t stream) {
    leaky_relu_mask_backward(in, mask, out, slope, n, stream);
  });
  return call;
}

const Contract<> kForward = of_length(
    "leaky_relu_mask",
    [](int64_t n, Offsets at) { return forward(random(n), kSlope, at); });
// The mask is of no x that dy would know.
const Contract<> kBackward =
    of_length("leaky_relu_mask_backward", [](int64_t n, Offsets at) {
      return backward(random(n), mask_of(random(n)), kSlope, at);
    });

void check_forward(const Floats& x, float slope = kSlope) {
  check_both_ways([&](Offsets at) { return forward(x, slope, at); });
}

void check_backward(const Floats& dy, const Words& mask, float slope = kSlope) {
  check_both_ways([&](Offsets at) { return backward(dy, mask, slope, at); });
}

const Floats kSlopes = {0.f, -0.f, 1.f, -0.5f, 3.f, 0x1p-130f, kInf, kNan};

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kForward, one.n, one.offset);
  run_and_check(kBackward, one.n, one.offset);
}

TEST_CASE("leaky_relu_mask handles every size") { check_every_size(kForward); }

TEST_CASE("leaky_relu_mask handles every offset") {
  check_every_offset(kForward);
}

TEST_CASE("leaky_relu_mask handles more elements than a grid has threads") {
  check_more_than_a_grid(kForward);
}

TEST_CASE("leaky_relu_mask serves two streams at once") {
  check_two_streams(kForward);
}

TEST_CASE("leaky_relu_mask gives back what it takes") {
  check_gives_back(kForward);
}

TEST_CASE("leaky_relu_mask queues its work on the stream and returns") {
  check_queueing(kForward);
}

TEST_CASE("leaky_relu_mask leaves its work to the GPU") {
  check_gpu_works(kForward);
}

TEST_CASE("leaky_relu_mask never writes to its input") {
  check_inputs_are_read_only(kForward);
}

// What lies past the end of x is positive, too: no bit may come from there.
TEST_CASE("leaky_relu_mask sets a bit for each positive number and no other") {
  for (const int64_t n : kLengths) {
    check_forward(random(n, 0.5f, 1.f));
    check_forward(random(n, -1.f, -0.5f));
  }
}

TEST_CASE("leaky_relu_mask multiplies by any slope") {
  const Floats x = with({kInf, -kInf, 0.f, -0.f, kNan}, random(1025));
  for (const float slope : kSlopes) check_forward(x, slope);
}

TEST_CASE("leaky_relu_mask keeps numbers of every size") {
  check_forward(sizes());
}

TEST_CASE("leaky_relu_mask passes NaN through, and its bit is 0") {
  check_forward(with({kNan, -kNan, Limits::signaling_NaN()}, random(1025)));
}

TEST_CASE("leaky_relu_mask keeps denormal numbers") {
  const float least = Limits::denorm_min();
  const float most = std::nextafter(Limits::min(), 0.f);
  check_forward(with({least, -least, most, -most}, random(1025)));
}

TEST_CASE("leaky_relu_mask_backward handles every size") {
  check_every_size(kBackward);
}

TEST_CASE("leaky_relu_mask_backward handles every offset") {
  check_every_offset(kBackward);
}

TEST_CASE(
    "leaky_relu_mask_backward handles more elements than a grid has threads") {
  check_more_than_a_grid(kBackward);
}

TEST_CASE("leaky_relu_mask_backward serves two streams at once") {
  check_two_streams(kBackward);
}

TEST_CASE("leaky_relu_mask_backward gives back what it takes") {
  check_gives_back(kBackward);
}

TEST_CASE(
    "leaky_relu_mask_backward queues its work on the stream and returns") {
  check_queueing(kBackward);
}

TEST_CASE("leaky_relu_mask_backward leaves its work to the GPU") {
  check_gpu_works(kBackward);
}

TEST_CASE("leaky_relu_mask_backward never writes to its input") {
  check_inputs_are_read_only(kBackward);
}

TEST_CASE("leaky_relu_mask_backward obeys each bit") {
  for (int64_t i = 0; i < 65; ++i) {
    Words one(3), all_but_one = {0xffffffff, 0xffffffff, 1};
    one[i / 32] |= 1u << (i % 32);
    all_but_one[i / 32] &= ~(1u << (i % 32));
    for (const Words& mask : {one, all_but_one})
      check_backward(random(65), mask);
  }
}

TEST_CASE("leaky_relu_mask_backward multiplies by any slope") {
  const Floats dy = with({kInf, -kInf, 0.f, -0.f, kNan}, random(1025));
  for (const float slope : kSlopes)
    check_backward(dy, mask_of(random(1025)), slope);
}

TEST_CASE("leaky_relu_mask_backward keeps gradients of every size") {
  const float least = Limits::denorm_min();
  const Floats dy = with({least, -least}, sizes());
  check_backward(dy, mask_of(random(std::ssize(dy))));
}
