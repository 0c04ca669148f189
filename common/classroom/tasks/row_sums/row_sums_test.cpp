// What every row_sums() must do, whichever file defines it.
#include "common/classroom/tasks/row_sums/row_sums.h"

#include "tests/exact_sum.h"
#include "tests/shape.h"

namespace {

using namespace contract;

Call row_sums_of(const Floats& x, Shape shape, Offsets at = {}) {
  const auto [rows, columns] = shape;
  std::vector<ExactSum> sums(rows);
  for (int64_t i = 0; i < std::ssize(x); ++i) sums[i / columns].add(x[i]);
  Floats rounded;
  for (const ExactSum& sum : sums) rounded.push_back(sum.rounded());

  Call call(text(shape), at);
  const float* in = call.reads("x", x);
  float* y = call.writes<float>(
      "y", rounded,
      {.allows = [sums, columns = columns](int64_t row, float, float got) {
        return sums[row].allows(got, columns);
      }});
  call.is([=, rows = rows, columns = columns](cudaStream_t stream) {
    row_sums(in, y, rows, columns, stream);
  });
  return call;
}

Call whole_row_sums(Shape shape, Offsets at) {
  return row_sums_of(whole(shape.elements()), shape, at);
}

const Contract<Shape> kRowSums = {
    .name = "row_sums",
    .sizes = every_shape({0, 1, 2, 33}, {0, 1, 2, 31, 32, 33, 255, 256, 257,
                                         1023, 1024, 1025, 2049}),
    .size_of = about_square,
    .random = whole_row_sums};

// Rows shorter than a warp, as long as a few tiles, and longer.
const Shape kShapes[] = {{500, 20}, {7, 3000}, {2, 100'003}};

// `special` in the first row and in one place of the last.
void check_special(const Floats& special) {
  for (const Shape shape : kShapes) {
    Floats x = random(shape.elements());
    std::copy(special.begin(), special.end(), x.begin());
    x[x.size() - 2] = special.back();
    run_and_check(row_sums_of(x, shape));
  }
}

}  // namespace

void checked_call(const Case& one) {
  run_and_check(kRowSums, square(one.n), one.offset);
}

TEST_CASE("row_sums handles every size") { check_every_size(kRowSums); }

TEST_CASE("row_sums handles every offset") { check_every_offset(kRowSums); }

TEST_CASE("row_sums handles more elements than a grid has threads") {
  check_more_than_a_grid(kRowSums);
}

TEST_CASE("row_sums serves two streams at once") {
  check_two_streams(kRowSums);
}

TEST_CASE("row_sums gives back what it takes") { check_gives_back(kRowSums); }

TEST_CASE("row_sums queues its work on the stream and returns") {
  check_queueing(kRowSums);
}

TEST_CASE("row_sums leaves its work to the GPU") { check_gpu_works(kRowSums); }

TEST_CASE("row_sums never writes to its input") {
  check_inputs_are_read_only(kRowSums);
}

// 65,535 and more: a grid's second dimension has no more blocks.
TEST_CASE("row_sums handles many short rows and few long ones") {
  const Hurry hurry;
  for (const Shape shape :
       {Shape{70'000, 3}, Shape{1, 1'000'003}, Shape{3, 333'333}})
    run_and_check(whole_row_sums(shape, {}));
}

TEST_CASE("row_sums is as exact as its contract asks") {
  for (const Shape shape : kShapes) {
    for (const Floats& x : delicate(shape.elements())) {
      run_and_check(row_sums_of(x, shape));
      run_and_check(row_sums_of(x, {1, shape.elements()}, {1, 3}));
    }
  }
}

TEST_CASE("row_sums passes NaN through, in its own row alone") {
  check_special({kNan});
  check_special({1.f, -kNan});
}

TEST_CASE("row_sums keeps infinity, and two of both signs are NaN") {
  check_special({kInf});
  check_special({-kInf, -kInf});
  check_special({kInf, -kInf});
}
