// Chapter 16: how the elements of a channel are shared between threads, decided
// on the host from numbers alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/bn_relu.h"

namespace batch_norm {

constexpr int kBlock = 256;
constexpr int kSumPack = 4;        // Elements that a thread loads side by side.
constexpr int kRound = 8;          // A thread should have so many of them.
constexpr int kResident = 4;       // So many blocks are on an SM at once.
constexpr int kMostShared = 1024;  // Groups that may share: so many counters.

// Both layouts are rows of `inner` elements of one channel; channels take
// turns, and all of them come `outer` times.
struct Shape {
  int64_t outer = 0, channels = 0, inner = 0;

  __host__ __device__ constexpr int64_t of_each() const {
    return outer * inner;
  }
  __host__ __device__ constexpr int64_t n() const {
    return of_each() * channels;
  }
};

constexpr Shape shape_of(const BnRelu& what) {
  const int64_t pixels = what.height * what.width;
  if (what.channels == 1) return {1, 1, what.images * pixels};
  if (what.channels_last) return {what.images * pixels, what.channels, 1};
  return {what.images, what.channels, pixels};
}

constexpr int bytes_of(Element element) {
  return element == Element::kFloat ? 4 : 2;
}

// A team of threads has one channel or, where a load lies across neighbouring
// channels, kSumPack of them. A block has several teams, and `parts` blocks
// have a part each of the same channels, which are a group.
struct Plan {
  int pack = 1;          // Elements per load.
  bool columns = false;  // Whether neighbours are of different channels.
  int teams = 1, members = kBlock;
  int64_t groups = 0;
  int parts = 1;

  __host__ __device__ constexpr int channels_of_thread() const {
    return columns ? pack : 1;
  }
  __host__ __device__ constexpr int channels_of_block() const {
    return teams * channels_of_thread();
  }
};

constexpr int power_of_two_up_to(int64_t n, int most) {
  int64_t power = 1;
  while (2 * power <= std::min<int64_t>(n, most)) power *= 2;
  return static_cast<int>(power);
}

// As many teams as leave each member a round of loads, unless a block's lanes
// would no longer read side by side; then so many parts that all SMs work.
constexpr Plan make_plan(const Shape& shape, bool aligned, int sms) {
  Plan plan;
  plan.columns = shape.inner == 1;
  const int64_t side = plan.columns ? shape.channels : shape.inner;
  if (aligned && side % kSumPack == 0) plan.pack = kSumPack;

  const int64_t loads = shape.of_each() / (plan.columns ? 1 : plan.pack);
  if (plan.columns) {
    plan.teams = power_of_two_up_to(shape.channels / plan.pack, 32);
    plan.members = kBlock / plan.teams;
  } else {
    plan.members = std::max(32, power_of_two_up_to(loads / kRound, kBlock));
    plan.teams = kBlock / plan.members;
  }
  const int64_t in_block = plan.channels_of_block();
  plan.groups = (shape.channels + in_block - 1) / in_block;
  if (plan.groups == 0 || plan.groups > kMostShared) return plan;
  const int64_t rounds = loads / (int64_t{kRound} * plan.members);
  const int64_t wanted = (int64_t{8} * sms + plan.groups - 1) / plan.groups;
  plan.parts = static_cast<int>(std::clamp<int64_t>(rounds, 1, wanted));
  return plan;
}

// Whether bytes that are read a second time are likely to be in the L2 cache
// still: what is written meanwhile goes there, too.
constexpr bool fits_in(int64_t bytes, int64_t l2_bytes) {
  return 2 * bytes <= l2_bytes;
}

}  // namespace batch_norm
