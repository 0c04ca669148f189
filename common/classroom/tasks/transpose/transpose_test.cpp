// What every transpose() must do, whichever file defines it.
#include "common/classroom/tasks/transpose/transpose.h"

#include "tests/shape.h"

namespace {

using namespace contract;

Call transpose_of(const Floats& x, Shape shape, Offsets at = {}) {
  const auto [rows, columns] = shape;
  Floats expected;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) expected.push_back(x[r * columns + c]);
  }
  Call call(text(shape), at);
  const float* in = call.reads("x", x);
  float* out = call.writes("y", expected, kMoved);
  call.is([=, rows = rows, columns = columns](cudaStream_t stream) {
    transpose(in, out, rows, columns, stream);
  });
  return call;
}

Call random_transpose(Shape shape, Offsets at) {
  return transpose_of(random(shape.elements()), shape, at);
}

const std::vector<int64_t> kSides = {0, 1, 2, 15, 31, 32, 33, 64, 65, 200};

const Contract<Shape> kTranspose = {.name = "transpose",
                                    .sizes = every_shape(kSides, kSides),
                                    .size_of = about_square,
                                    .random = random_transpose};

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kTranspose, square(one.n), one.offset);
}

TEST_CASE("transpose handles every size") { check_every_size(kTranspose); }

TEST_CASE("transpose handles every offset") { check_every_offset(kTranspose); }

TEST_CASE("transpose handles more elements than a grid has threads") {
  check_more_than_a_grid(kTranspose);
}

TEST_CASE("transpose serves two streams at once") {
  check_two_streams(kTranspose);
}

TEST_CASE("transpose gives back what it takes") {
  check_gives_back(kTranspose);
}

TEST_CASE("transpose queues its work on the stream and returns") {
  check_queueing(kTranspose);
}

TEST_CASE("transpose leaves its work to the GPU") {
  check_gpu_works(kTranspose);
}

TEST_CASE("transpose never writes to its input") {
  check_inputs_are_read_only(kTranspose);
}

// 32 x 65,535 and more: a grid's second dimension has no more blocks.
TEST_CASE("transpose handles very long rows and columns") {
  const Hurry hurry;
  for (const Shape shape : {Shape{1, 2'100'001}, Shape{2'100'001, 1},
                            Shape{3, 100'003}, Shape{100'003, 3}})
    run_and_check(random_transpose(shape, {}));
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
