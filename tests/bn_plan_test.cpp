// How chapter 16 shares channels between threads: its plans, on the host alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "chapters/16_bn_relu/plan.h"

namespace {

using batch_norm::blocks_in_columns, batch_norm::kBlock, batch_norm::kResident,
    batch_norm::make_plan, batch_norm::Plan, batch_norm::Shape,
    batch_norm::shape_of;

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
  constexpr int64_t kRoom = int64_t{kResident} * kSms;
  for (const bool last : {false, true}) {
    for (const int64_t channels : {1, 64, 100, 256, 300, 512, 1000}) {
      const Shape shape = shape_of(images(64, channels, 448, 448, last));
      const Plan plan = make_plan(shape, true, kSms);
      const int64_t blocks = plan.groups * plan.parts;
      const int64_t turns = (blocks + kRoom - 1) / kRoom;
      INFO(channels, " channels, last: ", last, ": ", blocks, " blocks");
      CHECK(100 * blocks >= 90 * turns * kRoom);
    }
  }
  CHECK(make_plan(shape_of(images(64, 2048, 7, 7)), true, kSms).parts == 1);
}

TEST_CASE("what blocks have to join is less than what they sum up") {
  for (const int64_t rows : {1, 64, 6272, 200704, 1 << 24}) {
    const Shape shape = shape_of(images(rows, 64, 1, 1, true));
    const Plan plan = make_plan(shape, true, kSms);
    CHECK(int64_t{plan.parts} * plan.parts <= std::max<int64_t>(rows, 1));
  }
}

TEST_CASE("packs of a thread keep to their columns where blocks allow it") {
  const auto blocks = [](int64_t channels, int pack, bool last = true) {
    return blocks_in_columns(shape_of(images(8, channels, 7, 7, last)), pack,
                             528);
  };
  CHECK(blocks(64, 4) == 1);    // 16 packs: a block has them 16 times.
  CHECK(blocks(2048, 4) == 2);  // 512 packs are two blocks' threads.
  CHECK(blocks(12, 4) == 3);    // With 3 blocks, 768 threads have 3 packs.
  CHECK(blocks(4 * 521, 4) == 521);
  CHECK(blocks(4 * 541, 4) == 0);  // More blocks than there is room for.
  CHECK(blocks(12, 8) == 0);       // A pack would begin with channel 8.
  CHECK(blocks(64, 4, false) == 0);
  for (int64_t channels = 4; channels <= 4096; channels += 4) {
    const int64_t step = blocks(channels, 4) * kBlock * 4;
    if (step > 0) REQUIRE(step % channels == 0);
  }
}
