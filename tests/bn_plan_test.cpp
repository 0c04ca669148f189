// How chapter 16 shares channels between threads: its plans, on the host alone.
#include <doctest/doctest.h>

#include <vector>

#include "chapters/16_bn_relu/plan.h"

namespace {

using batch_norm::fits_in, batch_norm::kBlock, batch_norm::make_plan,
    batch_norm::Plan, batch_norm::Shape, batch_norm::shape_of;

constexpr int kSms = 132;

BnRelu images(int64_t n, int64_t c, int64_t h, int64_t w, bool last = false) {
  return {n, c, h, w, last, Element::kFloat, true, 1e-5f, 0.1f};
}

}  // namespace

TEST_CASE("both layouts are rows of channels that take turns") {
  const Shape first = shape_of(images(8, 6, 5, 7));
  CHECK(first.outer == 8);
  CHECK(first.inner == 35);
  const Shape last = shape_of(images(8, 6, 5, 7, true));
  CHECK(last.outer == 280);
  CHECK(last.inner == 1);
  CHECK(first.n() == last.n());
}

TEST_CASE("one channel is one row, whatever its layout") {
  for (const bool last : {false, true}) {
    const Shape shape = shape_of(images(8, 1, 5, 7, last));
    CHECK(shape.outer == 1);
    CHECK(shape.inner == 280);
  }
}

TEST_CASE("a plan has a whole block of threads and a group for every channel") {
  for (const int64_t channels : {1, 3, 4, 31, 32, 64, 100, 2048, 5000}) {
    for (const int64_t pixels : {1, 2, 7, 49, 64, 3136, 12544}) {
      for (const bool last : {false, true}) {
        for (const bool aligned : {false, true}) {
          const Shape shape = shape_of(images(8, channels, 1, pixels, last));
          const Plan plan = make_plan(shape, aligned, kSms);
          INFO(channels, " channels of ", pixels, " pixels, last: ", last);
          CHECK(plan.teams * plan.members == kBlock);
          CHECK(plan.groups * plan.channels_of_block() >= channels);
          CHECK((plan.groups - 1) * plan.channels_of_block() < channels);
          CHECK(plan.parts >= 1);
        }
      }
    }
  }
}

TEST_CASE("packs are used where rows or channels come in fours") {
  CHECK(make_plan(shape_of(images(8, 3, 14, 14)), true, kSms).pack == 4);
  CHECK(make_plan(shape_of(images(8, 4, 7, 7)), true, kSms).pack == 1);
  CHECK(make_plan(shape_of(images(8, 4, 7, 7, true)), true, kSms).pack == 4);
  CHECK(make_plan(shape_of(images(8, 6, 8, 8, true)), true, kSms).pack == 1);
  CHECK(make_plan(shape_of(images(8, 4, 8, 8)), false, kSms).pack == 1);
}

TEST_CASE("few channels are shared by blocks until the GPU is full") {
  const Plan few = make_plan(shape_of(images(64, 64, 112, 112)), true, kSms);
  CHECK(few.groups == 64);
  CHECK(few.groups * few.parts >= 8 * kSms);
  const Plan many = make_plan(shape_of(images(64, 2048, 7, 7)), true, kSms);
  CHECK(many.parts == 1);
  const Plan last =
      make_plan(shape_of(images(64, 64, 112, 112, true)), true, kSms);
  CHECK(last.groups * last.parts >= 8 * kSms);
}

TEST_CASE("x fits where twice its bytes do") {
  CHECK(fits_in(30 << 20, 60 << 20));
  CHECK(!fits_in((30 << 20) + 1, 60 << 20));
  CHECK(!fits_in(int64_t{1} << 40, 60 << 20));
}
