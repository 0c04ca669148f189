// What every transpose() and transpose_half() must do, whichever file defines
// them.
#include "common/transpose.h"

#include "tests/shape.h"

namespace {

using namespace contract;

using Bits = uint16_t;  // Of a half: it is only moved.

void call_it(const float* x, float* y, Shape shape, cudaStream_t stream) {
  transpose(x, y, shape.rows, shape.columns, stream);
}
void call_it(const Bits* x, Bits* y, Shape shape, cudaStream_t stream) {
  transpose_half(reinterpret_cast<const __half*>(x),
                 reinterpret_cast<__half*>(y), shape.rows, shape.columns,
                 stream);
}

Judge<float> moved(float) { return kMoved; }
Judge<Bits> moved(Bits) { return {}; }

template <class T>
Call transpose_of(const std::vector<T>& x, Shape shape, Offsets at = {}) {
  const auto [rows, columns] = shape;
  std::vector<T> expected;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) expected.push_back(x[r * columns + c]);
  }
  Call call(text(shape), at);
  const T* in = call.reads("x", x);
  T* out = call.writes("y", expected, moved(T{}));
  call.is([=](cudaStream_t stream) { call_it(in, out, shape, stream); });
  return call;
}

// Any bits, those of NaN among them.
std::vector<Bits> random_halves(int64_t n) {
  static std::mt19937 bits(seed() + 6);
  std::vector<Bits> values(n);
  for (Bits& v : values) v = static_cast<Bits>(bits());
  return values;
}

Call random_floats(Shape shape, Offsets at) {
  return transpose_of(random(shape.elements()), shape, at);
}
Call random_bits(Shape shape, Offsets at) {
  return transpose_of(random_halves(shape.elements()), shape, at);
}

// Where a tile of 32 or 64 ends, or a pack; and some that nobody chose.
std::vector<Shape> shapes() {
  const std::vector<int64_t> sides = {0,  1,  2,  4,  15, 31,
                                      32, 33, 63, 64, 65, 200};
  std::vector<Shape> all = every_shape(sides, sides);
  std::mt19937 bits(seed() + 7);
  const auto side = [&] { return static_cast<int64_t>(bits() % 300); };
  for (int k = 0; k < 20; ++k) all.push_back({side(), side()});
  return all;
}

const Contract<Shape> kTranspose = {.name = "transpose",
                                    .sizes = shapes(),
                                    .size_of = about_square,
                                    .random = random_floats};
const Contract<Shape> kHalves = {.name = "transpose_half",
                                 .sizes = shapes(),
                                 .size_of = about_square,
                                 .random = random_bits,
                                 .pack = 8};

// 32 x 65,535 and more: a grid's second dimension has no more blocks.
const std::vector<Shape> kLongest = {{1, 2'100'001}, {2'100'001, 1}};
const std::vector<Shape> kLong = {{3, 100'003}, {100'003, 3}};

// One transpose() of a matrix that the host never holds: `period` repeated.
void check_large(const Floats& period, Shape shape) {
  const int64_t n = shape.elements();
  const DeviceArray<float> x(n), y(n);
  fill(x.data(), n, period);
  transpose(x.data(), y.data(), shape.rows, shape.columns, nullptr);
  each(y.data(), n, [&](int64_t i, int64_t, float got) {
    const int64_t r = i % shape.rows, c = i / shape.rows;
    const float expected = period[(r * shape.columns + c) % kPeriod];
    if (same_bytes(expected, got)) return;
    FAIL(text(shape), ": y[", i, "] expected ", text(expected), ", got ",
         text(got));
  });
}

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kTranspose, square(one.n), one.offset);
}

TEST_CASE("transpose handles every size") { check_every_size(kTranspose); }

TEST_CASE("transpose_half handles every size") { check_every_size(kHalves); }

TEST_CASE("transpose handles every offset") { check_every_offset(kTranspose); }

TEST_CASE("transpose_half handles every offset") {
  check_every_offset(kHalves);
}

TEST_CASE("transpose handles every pair of offsets of whole packs") {
  for (int64_t x = 0; x < 8; ++x) {
    for (int64_t y = 0; y < 8; ++y) {
      run_and_check(random_floats({40, 72}, {x, y}));
      run_and_check(random_bits({40, 72}, {x, y}));
    }
  }
}

TEST_CASE("transpose handles more elements than a grid has threads") {
  check_more_than_a_grid(kTranspose);
}

TEST_CASE("transpose handles very long rows and columns") {
  const Hurry hurry;
  for (const Shape shape : kLongest) run_and_check(random_floats(shape, {}));
  for (const Shape shape : kLong) {
    run_and_check(random_floats(shape, {}));
    run_and_check(random_bits(shape, {}));
  }
}

TEST_CASE("transpose handles more than 2^31 elements") {
  if (is_left_to_a_gpu()) return;
  const Floats period = random(kPeriod);
  for (const Shape shape : {Shape{46'349, 46'351}, Shape{1000, 4'294'973},
                            Shape{2'147'489, 1001}, Shape{3, 715'827'889}}) {
    if (has_memory(2 * shape.elements() * sizeof(float)))
      check_large(period, shape);
  }
}

TEST_CASE("transpose serves two streams at once") {
  check_two_streams(kTranspose);
}

TEST_CASE("transpose_half serves two streams at once") {
  check_two_streams(kHalves);
}

TEST_CASE("transpose gives back what it takes") {
  check_gives_back(kTranspose);
}

TEST_CASE("transpose_half gives back what it takes") {
  check_gives_back(kHalves);
}

TEST_CASE("transpose queues its work on the stream and returns") {
  check_queueing(kTranspose);
}

TEST_CASE("transpose_half queues its work on the stream and returns") {
  check_queueing(kHalves);
}

TEST_CASE("transpose leaves its work to the GPU") {
  check_gpu_works(kTranspose);
}

TEST_CASE("transpose_half leaves its work to the GPU") {
  check_gpu_works(kHalves);
}

TEST_CASE("transpose never writes to its input") {
  check_inputs_are_read_only(kTranspose);
}

TEST_CASE("transpose_half never writes to its input") {
  check_inputs_are_read_only(kHalves);
}

TEST_CASE("transpose keeps the bits of every number") {
  const float payload = std::bit_cast<float>(0x7fc12345);
  const float least = Limits::denorm_min();
  const Shape shape = {33, 70};
  const Floats x = with({kInf, -kInf, kNan, -kNan, payload,
                         Limits::signaling_NaN(), least, -least, 0.f, -0.f},
                        random(shape.elements()));
  check_both_ways([&](Offsets at) { return transpose_of(x, shape, at); });
}

TEST_CASE("transpose_half keeps the bits of every half") {
  const Shape shape = {256, 256};
  std::vector<Bits> x(shape.elements());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Bits>(i);
  check_both_ways([&](Offsets at) { return transpose_of(x, shape, at); });
}
