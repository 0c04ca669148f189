// How chapter 16 shares channels between threads: its plans, on the host alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "chapters/16_bn_relu/plan.h"

namespace {

using batch_norm::Columns, batch_norm::columns_of, batch_norm::kBlock,
    batch_norm::kKept, batch_norm::kMostParts, batch_norm::kResident,
    batch_norm::kTall, batch_norm::make_plan, batch_norm::Plan,
    batch_norm::Shape, batch_norm::shape_of;

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
          CHECK(plan.groups * plan.teams >= channels);
          CHECK((plan.groups - 1) * plan.teams < channels);
          CHECK(plan.parts >= 1);
        }
      }
    }
  }
}

TEST_CASE("packs are used where rows come in fours") {
  CHECK(make_plan(shape_of(images(8, 3, 14, 14)), true, kSms).pack == 4);
  CHECK(make_plan(shape_of(images(8, 4, 7, 7)), true, kSms).pack == 1);
  CHECK(make_plan(shape_of(images(8, 4, 8, 8, true)), true, kSms).pack == 1);
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

TEST_CASE("short channels are not shared where each SM has one") {
  const auto parts = [](int64_t channels, int64_t pixels) {
    return make_plan(shape_of(images(64, channels, 1, pixels)), true, kSms)
        .parts;
  };
  CHECK(parts(256, 14 * 14) == 1);
  CHECK(parts(128, 14 * 14) > 1);
  CHECK(parts(256, 28 * 28) > 1);
}

TEST_CASE("what blocks have to join is less than what they sum up") {
  for (const int64_t rows : {1, 64, 6272, 200704, 1 << 24}) {
    const Shape shape = shape_of(images(rows, 64, 1, 1, true));
    const Plan plan = make_plan(shape, true, kSms);
    CHECK(int64_t{plan.parts} * plan.parts <= std::max<int64_t>(rows, 1));
  }
}

TEST_CASE("with channels last, every row belongs to one thread of a group") {
  for (const int64_t channels : {32, 64, 96, 2048, 2144, 4224}) {
    for (const int64_t rows : {1, 63, 64, 65, 515, 6272, 200704}) {
      for (const int pack : {4, 8}) {
        const Columns cut = columns_of(
            shape_of(images(rows, channels, 1, 1, true)), pack, kSms);
        INFO(rows, " rows of ", channels, " channels, in packs of ", pack);
        REQUIRE(cut.groups * cut.across * pack == channels);
        CHECK(cut.across * cut.down == kTall);
        CHECK(cut.groups * cut.parts <= kSms);
        CHECK(cut.parts <= kMostParts);
        int64_t all = 0, of_threads = 0;
        for (int part = 0; part < cut.parts; ++part) {
          CHECK(cut.row(part, cut.turns_of(part) - 1) < rows);
          CHECK(cut.row(part, cut.turns_of(part)) >= rows);
          all += cut.rows_of(part);
          for (int below = 0; below < cut.down; ++below)
            of_threads += cut.rows_of(part, below);
        }
        CHECK(all == rows);
        CHECK(of_threads == rows);
      }
    }
  }
}

TEST_CASE("a group is as wide as a line where x has to travel twice") {
  const auto channels_of_group = [](int pack, int64_t channels, int64_t rows) {
    const Columns cut =
        columns_of(shape_of(images(rows, channels, 1, 1, true)), pack, kSms);
    return cut.across * pack;
  };
  const int64_t kept = int64_t{kSms} * kTall * kKept * 8 / 128;  // Rows.
  CHECK(channels_of_group(8, 128, kept) == 32);
  CHECK(channels_of_group(8, 128, kept + 1) == 64);
  CHECK(channels_of_group(8, 160, kept) == 32);     // No whole lines,
  CHECK(channels_of_group(8, 64, 4 * kept) == 32);  // or only one.
  CHECK(channels_of_group(4, 128, kept + 1) == 32);
}

TEST_CASE("what is no whole number of groups takes another way") {
  const auto groups = [](const BnRelu& what, int64_t room = kSms) {
    return columns_of(shape_of(what), 4, room).groups;
  };
  CHECK(groups(images(8, 64, 7, 7, true)) == 2);
  CHECK(groups(images(8, 64, 7, 7)) == 0);
  CHECK(groups(images(8, 48, 7, 7, true)) == 0);
  CHECK(groups(images(0, 64, 7, 7, true)) == 0);
  CHECK(groups(images(8, 4224, 7, 7, true)) == kSms);
  CHECK(groups(images(8, 4256, 7, 7, true)) == 0);  // Not all could meet.
  CHECK(groups(images(8, 64, 7, 7, true), 0) == 0);
}
