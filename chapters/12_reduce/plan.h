// Chapter 12: the planner of the reduction engine.
//
// Which thread reads what, decided on the host from numbers alone: no pointer
// is followed and no GPU asked, so that any compiler and any test can run it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace reduction {

constexpr int kMostDims = 8;
constexpr int kBlock = 512;   // The most threads that a block has,
constexpr int kEnough = 128;  // and not more without need.
constexpr int kPerSm = 2;     // Such blocks on an SM, as registers allow.
constexpr int kLine = 8;      // Members whose packs fill a line.
constexpr int kAccs = 4;      // Chains of additions that a thread interleaves.

using Error = const char*;  // A sentence about what is wrong, or nullptr.

// A stride counts elements; 0 repeats them, and a negative one goes backwards.
struct Shape {
  std::vector<int64_t> sizes, strides;
};

struct Dim {
  int64_t size = 1, stride = 0, out_stride = 0;
};

// How far apart neighbours are; if an element is repeated, they never meet.
inline int64_t distance(const Dim& d) {
  return d.stride != 0 ? std::abs(d.stride) : INT64_MAX;
}

// From the fastest to the slowest; two that are like one become one.
struct Dims {
  Dim dim[kMostDims];
  int rank = 1;
  int64_t count = 1;

  Dims() = default;
  explicit Dims(const std::vector<Dim>& all) {
    for (const Dim& next : all) {
      count *= next.size;
      Dim& last = dim[rank - 1];
      if (last.size == 1) {
        last = next;
      } else if (next.stride == last.size * last.stride &&
                 next.out_stride == last.size * last.out_stride) {
        last.size *= next.size;
      } else if (next.size != 1) {
        dim[rank++] = next;
      }
    }
  }
  bool strides_divide_by(int pack, int from) const {
    return std::all_of(dim + from, dim + rank,
                       [&](const Dim& d) { return d.stride % pack == 0; });
  }
  // Packs of neighbours: aligned wherever the first one is.
  bool splits_into(int pack) const {
    return dim[0].stride == 1 && dim[0].size % pack == 0 &&
           strides_divide_by(pack, 1);
  }
  void join(int pack) {
    dim[0] = {dim[0].size / pack, dim[0].stride * pack,
              dim[0].out_stride * pack};
    count /= pack;
  }
  int64_t reach() const {
    int64_t sum = 0;
    for (int d = 0; d < rank; ++d)
      sum += (dim[d].size - 1) * std::abs(dim[d].stride);
    return sum;
  }
};

// How many loads a thread has under way at once.
constexpr int in_flight(int load_bytes) {
  return load_bytes < 8 ? 16 : load_bytes < 16 ? 8 : 4;
}

// How many elements fit into a load; and of how many results a thread keeps the
// accumulators, which its block exchanges through 32 KB.
constexpr int pack_of(int in_bytes) { return 16 / in_bytes; }
constexpr int side_of(int in_bytes, int acc_bytes) {
  const int side = std::min({kAccs, pack_of(in_bytes), 64 / acc_bytes});
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(side)));
}

// What the planner has to know of an operation, of two addresses and of a GPU.
struct Kind {
  int in_bytes, out_bytes, acc_bytes;
  bool indexed, needs_one;
};
struct Places {
  uintptr_t x, out;
};
struct Gpu {
  int sms, threads_per_sm;
};

// A team of threads finds one result, or `across` of them that lie side by
// side. Its members are `apart` from one to the next. A block has several
// teams; where a result is worth it, grid_y blocks have a part of it each.
struct Plan {
  Error error = nullptr;
  Places at{};                // For these addresses.
  Dims kept, reduced;         // Counted in loads.
  int64_t n = 0;              // Elements that each result is made of.
  int along = 1, across = 1;  // Elements per load: of one result, of several.
  int members = 1, teams = 1, apart = 1;
  int64_t grid_x = 0, grid_y = 1;
  bool wide = false;  // Whether an index needs 64 bits.
  int64_t counter_bytes = 0, scratch_bytes = 0;
};

inline Plan refused(Error why) {
  Plan plan;
  plan.error = why;
  return plan;
}

inline Error mistake(const Shape& x, const std::vector<int>& dims) {
  const int rank = static_cast<int>(x.sizes.size());
  if (rank > kMostDims) return "x has more than 8 dimensions.";
  if (x.strides.size() != x.sizes.size())
    return "x does not have a stride for each dimension.";
  int64_t count = 1;
  for (const int64_t size : x.sizes) {
    if (size < 0) return "A dimension of x has a negative size.";
    if (__builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count))
      return "x has more elements than 64 bits can count.";
  }
  for (const int d : dims) {
    if (d < 0 || d >= rank) return "x has no such dimension to reduce.";
    if (std::count(dims.begin(), dims.end(), d) > 1)
      return "A dimension to reduce is named twice.";
  }
  return nullptr;
}

// The largest power of two up to v, or the smallest from v on, within limits.
inline int power_below(int64_t v, int64_t least, int64_t most) {
  const auto power = std::bit_floor(static_cast<uint64_t>(v));
  return static_cast<int>(std::clamp<int64_t>(power, least, most));
}
inline int power_above(int64_t v, int64_t least, int64_t most) {
  return power_below(std::bit_ceil(static_cast<uint64_t>(v)), least, most);
}
constexpr int64_t parts_of(int64_t n, int64_t size) {
  return (n + size - 1) / size;
}

inline Plan make_plan(const Shape& x, const std::vector<int>& dims,
                      const Kind& kind, const Places& at, const Gpu& gpu) {
  if (const Error error = mistake(x, dims)) return refused(error);
  Plan plan;
  plan.at = at;

  std::vector<Dim> kept, reduced;
  int64_t out_stride = 1;
  for (int d = static_cast<int>(x.sizes.size()) - 1; d >= 0; --d) {
    if (std::count(dims.begin(), dims.end(), d)) {
      reduced.push_back({x.sizes[d], x.strides[d]});
    } else {
      kept.push_back({x.sizes[d], x.strides[d], out_stride});
      out_stride *= x.sizes[d];
    }
  }
  const auto nearer = [](const Dim& a, const Dim& b) {
    return distance(a) < distance(b);
  };
  std::stable_sort(kept.begin(), kept.end(), nearer);
  // An index counts in the array's own order.
  if (!kind.indexed) std::stable_sort(reduced.begin(), reduced.end(), nearer);
  Dims& outer = plan.kept = Dims(kept);
  Dims& inner = plan.reduced = Dims(reduced);
  plan.n = inner.count;
  if (outer.count == 0) return plan;  // There is nothing to write.
  if (plan.n == 0 && kind.needs_one)
    return refused("There is no such result of no elements.");

  // Loads of several elements: for one result, if its elements are neighbours,
  // or for neighbouring results. A row may begin and end anywhere.
  const bool rows = distance(inner.dim[0]) <= distance(outer.dim[0]);
  const int pack = pack_of(kind.in_bytes);
  const int side = side_of(kind.in_bytes, kind.acc_bytes);
  const bool row_aligned = at.x % 16 == 0 && inner.splits_into(pack) &&
                           outer.strides_divide_by(pack, 0);
  const bool side_aligned =
      at.x % (side * kind.in_bytes) == 0 && outer.splits_into(side) &&
      inner.strides_divide_by(side, 0) && outer.dim[0].out_stride == 1 &&
      at.out % std::min(16, side * kind.out_bytes) == 0;
  const bool long_row =
      inner.rank == 1 && inner.dim[0].stride == 1 && plan.n >= 8 * pack;
  if (rows && plan.n > 0 && (row_aligned || long_row))
    inner.join(plan.along = pack);
  if (!rows && side_aligned) outer.join(plan.across = side);

  // A team has at most as many members as leave each a round of loads. Beyond a
  // warp, all have to fit on the GPU at once: the smaller a team, the less of
  // it is a tree. Threads side by side read what lies side by side. Blocks are
  // small if large ones would leave SMs without work.
  const int64_t loads = inner.count;
  const int at_once = in_flight(kind.in_bytes * plan.along * plan.across);
  const int64_t threads =
      int64_t{gpu.sms} * std::min(gpu.threads_per_sm, kBlock * kPerSm);
  const int64_t filling = threads / outer.count;
  const int lanes = rows ? 1 : power_above(outer.dim[0].size, 1, 32);
  if (rows) {
    // None has two of the elements that are in no pack.
    const int least = plan.along > 1 && !row_aligned ? 2 * pack : 1;
    const int wanted = power_below(filling, 32, kBlock);
    // Results in plenty fill the GPU: there a member of a team has four rounds.
    const int64_t rounds = parts_of(loads, at_once);
    const int64_t useful =
        filling < kLine ? std::max(std::min<int64_t>(rounds, kLine), rounds / 4)
                        : rounds;
    plan.members =
        power_above(std::min<int64_t>(useful, wanted), least, kBlock);
  } else {
    // Of many blocks, small ones end more evenly.
    const int most = outer.count > 16 * lanes ? kBlock / 2 : kBlock;
    plan.members =
        power_below(std::min(loads / (2 * at_once), filling), 1, most / lanes);
  }
  plan.teams =
      power_below(outer.count / gpu.sms, std::max(lanes, 32 / plan.members),
                  std::max(lanes, kEnough / plan.members));
  plan.apart = rows ? 1 : plan.teams;
  plan.grid_x = parts_of(outer.count, plan.teams);
  if (plan.grid_x > INT32_MAX)
    return refused("A grid has too few blocks for so many results.");

  // Blocks share a result if that fills the GPU and each has enough to do.
  const int64_t room = threads / (plan.members * plan.teams) / plan.grid_x;
  const int64_t round = int64_t{plan.members} * at_once;
  if (loads > 4 * round)
    plan.grid_y = std::clamp<int64_t>(parts_of(loads, round), 1,
                                      std::clamp<int64_t>(room, 1, 65535));
  if (plan.grid_y > 1) {
    plan.counter_bytes = parts_of(plan.grid_x * sizeof(unsigned), 16) * 16;
    plan.scratch_bytes = plan.counter_bytes + plan.grid_x * plan.grid_y *
                                                  plan.teams * plan.across *
                                                  kind.acc_bytes;
  }
  // A loop may count a little further than there are elements.
  constexpr int64_t kMost = INT32_MAX - (1 << 24);
  plan.wide = std::max({plan.n, outer.count * plan.across,
                        outer.reach() + inner.reach()}) > kMost;
  return plan;
}

}  // namespace reduction
