// wgmma.mma_async: what a warp computes of D = A * B + D.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "common/simt/core/finding.h"
#include "common/simt/core/half.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/matrix/matrix.h"
#include "common/simt/isa/matrix/shared_matrix.h"
#include "common/simt/isa/matrix/sum.h"
#include "common/simt/isa/matrix/warpgroup.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr int kRows = WarpgroupProduct::kRows;
constexpr int kTile = WarpgroupProduct::kTile;
constexpr int kMostColumns = 256;
constexpr int kTileElements = kRows * kTile;
constexpr int kMostRowsOfB = 2 * kMostFactors;
static_assert(kTile == kColumns);

// ---- Who takes part ---------------------------------------------------------

// This warp begins its next product, and so do the others of its warpgroup:
// now, later or before.
void join_warpgroup(Warp& warp, const Instruction& ins) {
  constexpr uint32_t kWarps = Warpgroup::kWarps;
  Block& block = *warp.block;
  const uint32_t first = warp.index / kWarps * kWarps;
  if ((first + kWarps) * kLanes > block.grid->threads_per_block)
    fault(warp, ins, 0, "missing warps",
          "a warpgroup is four warps of 32 threads, the first of which has a "
          "number that is a multiple of 4; from warp " +
              std::to_string(first) + " on, this block of " +
              std::to_string(block.grid->threads_per_block) +
              " threads has fewer",
          kLaunchFailure);
  Warpgroup& group = block.warpgroups[first / kWarps];
  if (warp.products_begun++ == group.begun) {
    ++group.begun;
    group.newest = &ins;
  } else if (group.newest->product != ins.product) {
    fault(warp, ins, 0, "different products",
          "another warp of its warpgroup is at the wgmma.mma_async of another "
          "form at " +
              block.grid->program.location(group.newest->where) +
              "; the four warps execute the same one",
          kLaunchFailure);
  }
}

// What all lanes have to say alike.
template <class T>
T alike(Warp& warp, const Instruction& ins, int source, const char* what) {
  const T* all = lanes<T>(warp, ins.source(source));
  for (int l = 1; l < kLanes; ++l)
    if (all[l] != all[0])
      fault(warp, ins, l, "bad product",
            std::string(what) + " is another one than in lane 0 of its warp",
            kLaunchFailure);
  return all[0];
}

bool adds(Warp& warp, const Instruction& ins) {
  const uint32_t all = read_predicate(warp, ins, WarpgroupProduct::kAdds);
  if (all != 0 && all != kAllLanes)
    fault(warp, ins, first_lane(~all), "bad product",
          "the predicate that says whether D is an addend is another one than "
          "in other lanes of its warp",
          kLaunchFailure);
  return all != 0;
}

// ---- What is read -----------------------------------------------------------

void add_chunks(const SharedMatrix& m, bool of_a, int from, int count,
                std::vector<AsyncProduct::Chunk>& chunks) {
  const auto sides = static_cast<uint8_t>(m.along_k() ? 1 : m.per_chunk());
  m.each_chunk(from, count, [&](uint64_t at, int side, int) {
    chunks.push_back({static_cast<uint32_t>(at), of_a,
                      static_cast<uint8_t>(side - from), sides});
  });
}

// put(side, k, bits) for each element.
template <class Put>
void read_shared(const SharedMatrix& m, const uint8_t* shared, int from,
                 int count, Put put) {
  const int bytes = m.element_bytes();
  m.each_chunk(from, count, [&](uint64_t at, int side, int k) {
    for (int e = 0; e < m.per_chunk(); ++e) {
      uint32_t bits = 0;
      std::memcpy(&bits, shared + at + e * bytes, bytes);
      m.along_k() ? put(side - from, k + e, bits)
                  : put(side - from + e, k, bits);
    }
  });
}

// The operands of one warp's part.
class GroupOperands {
 public:
  GroupOperands(Warp& warp, const Instruction& ins)
      : warp_(warp), ins_(ins), p_(*ins.product) {
    const int bytes = bits_of(p_.b) / 8;
    b_.emplace(alike<uint64_t>(warp, ins, p_.b_source(), "B's descriptor"),
               bytes, p_.b_along_k, p_.k);
    if (!p_.a_in_registers)
      a_.emplace(alike<uint64_t>(warp, ins, p_.kA, "A's descriptor"), bytes,
                 p_.a_along_k, p_.in_row());
  }

  std::vector<AsyncProduct::Chunk> chunks() const {
    std::vector<AsyncProduct::Chunk> all;
    if (a_) add_chunks(*a_, true, first_row(), kRows, all);
    add_chunks(*b_, false, 0, p_.n, all);
    std::ranges::sort(all, {}, &AsyncProduct::Chunk::at);
    require_inside(all);
    return all;
  }

  // A row by row, and B tile by tile, of which each lies row by row.
  void read() {
    const uint8_t* shared = warp_.block->shared.data();
    const int k = p_.k, in_row = p_.in_row();
    if (a_)
      read_shared(
          *a_, shared, first_row(), kRows,
          [&](int i, int l, uint32_t bits) { a[i * in_row + l] = bits; });
    else
      p_.a_fragment.unpack(warp_, ins_.sources().data() + p_.kA, a);
    read_shared(*b_, shared, 0, p_.n, [&](int j, int l, uint32_t bits) {
      b[(j / kTile * k + l) * kTile + j % kTile] = bits;
    });
    const uint32_t sign = p_.negated ? 1u << (bits_of(p_.a) - 1) : 0;
    for (int e = 0; e < kRows * in_row; ++e) a[e] ^= sign;
    if (p_.sparsity)
      chosen = {p_.sparsity,
                lanes<uint32_t>(warp_, ins_.source(p_.metadata_source())),
                kRows};
  }

  uint32_t a[kRows * kMostFactors];
  uint32_t b[kMostColumns * kMostRowsOfB];
  ChosenRows chosen;

 private:
  int first_row() const {
    return static_cast<int>(warp_.index % Warpgroup::kWarps) * kRows;
  }
  void require_inside(const std::vector<AsyncProduct::Chunk>& all) const {
    const uint64_t size = warp_.block->grid->shared_end();
    const AsyncProduct::Chunk& last = all.back();
    if (is_inside(last.at, SharedMatrix::kChunkBytes, 0, size)) return;
    fault(warp_, ins_, 0, "out of bounds",
          std::string("its descriptor of ") + (last.of_a ? "A" : "B") +
              " leads to byte " + std::to_string(last.at) +
              " of the block's shared memory, which has " +
              std::to_string(size),
          kIllegalAddress);
  }

  Warp& warp_;
  const Instruction& ins_;
  const WarpgroupProduct& p_;
  std::optional<SharedMatrix> a_, b_;
};

// ---- Eight columns of a warp's rows -----------------------------------------

bool is_eighth(Number number) {
  return number == Number::kE4M3 || number == Number::kE5M2;
}

// All products of an element at once.
void add_floats(const WarpgroupProduct& p, const Factors& a,
                const GroupOperands& in, const uint32_t* tile, uint32_t* d) {
  const bool eighths = is_eighth(p.a), halves = p.d == Number::kHalf;
  const int kept = eighths ? kKeptOfEighths : kKept;
  const int mantissa_bits = eighths ? kKeptOfEighths : 23;
  const int count = p.in_row();
  uint32_t met[kTile * kMostFactors];
  std::optional<Factors> b;
  for (int i = 0; i < kRows; ++i) {
    if (!b || p.sparsity)
      b.emplace(p.b, in.chosen.met(i, tile, kTile, met), kTile * count);
    uint32_t addend[kTile];
    for (int j = 0; j < kTile; ++j)
      addend[j] =
          halves ? bits_of(Half::widen(d[i * kTile + j])) : d[i * kTile + j];
    Sums sums;
    add_products(a, i * count, *b, 0, kTile, count, addend, sums, kept);
    if (!halves) floats_of_sums(sums, d + i * kTile, mantissa_bits);
    for (int j = 0; halves && j < kTile; ++j)
      d[i * kTile + j] = half_of_sum(sums, j);
  }
}

void add_wholes(const WarpgroupProduct& p, const GroupOperands& in,
                const uint32_t* tile, uint32_t* d) {
  uint32_t met[kTile * kMostFactors];
  for (int i = 0; i < kRows; ++i) {
    const uint32_t* a = in.a + i * p.in_row();
    const uint32_t* b = in.chosen.met(i, tile, kTile, met);
    int32_t sum[kTile] = {};
    for (int l = 0; l < p.in_row(); ++l)
      for (int j = 0; j < kTile; ++j)
        sum[j] += whole(p.a, a[l]) * whole(p.b, b[l * kTile + j]);
    for (int j = 0; j < kTile; ++j) {
      uint32_t& to = d[i * kTile + j];
      const int64_t exact = int64_t{static_cast<int32_t>(to)} + sum[j];
      to = static_cast<uint32_t>(
          p.saturates ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                      : exact);
    }
  }
}

void add_bits(const WarpgroupProduct& p, const GroupOperands& in,
              const uint32_t* tile, uint32_t* d) {
  for (int i = 0; i < kRows; ++i)
    for (int l = 0; l < p.k; ++l)
      for (int j = 0; j < kTile; ++j)
        d[i * kTile + j] +=
            std::popcount(in.a[i * p.k + l] & tile[l * kTile + j]);
}

// ---- What nobody has written ------------------------------------------------

// An element of the result is undefined if its addend is, or a factor of it.
class GroupDoubts {
 public:
  GroupDoubts(Warp& warp, const Instruction& ins, const AsyncProduct& product)
      : warp_(warp), ins_(ins), p_(*ins.product), values_(checker().values()) {
    for (const AsyncProduct::Chunk& chunk : product.chunks)
      if (const auto origin =
              values_.unwritten(warp, ins, chunk.at, SharedMatrix::kChunkBytes))
        note_chunk(chunk, *origin);
    if (!warp.tainted) return;
    for (int r = 0; p_.a_in_registers && r < p_.a_registers(); ++r)
      note_rows(r);
    if (p_.sparsity) note_metadata();
  }

  void follow(bool adds) {
    std::vector<Undefined> results;
    bool known = any_;
    for (int r = 0; r < ins_.result_count; ++r)
      known |= warp_.tainted && values_.undefined(warp_, ins_.result(r));
    if (!known) return;
    for (int r = 0; r < ins_.result_count; ++r)
      results.push_back(result(r, adds));
    values_.replace(warp_, results);
  }

 private:
  Checker& checker() const { return *warp_.block->observers.checker; }

  void note_chunk(const AsyncProduct::Chunk& chunk, const Origin& origin) {
    std::fill_n((chunk.of_a ? rows_ : columns_) + chunk.first, chunk.count,
                origin);
    any_ = true;
  }
  void note_rows(int r) {
    const Undefined* u = values_.undefined(warp_, ins_.source(p_.kA + r));
    for (uint32_t rest = u ? u->lanes : 0; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const Step at = p_.a_fragment.place(l, r * p_.a_fragment.per_register());
      rows_[at.row] = u->origin[l];
      any_ = true;
    }
  }

  void note_metadata() {
    const Undefined* u =
        values_.undefined(warp_, ins_.source(p_.metadata_source()));
    for (int i = 0; u && i < kRows; ++i)
      for (int l = 0; l < p_.in_row(); ++l)
        if (const Origin* o = u->origin_of(p_.sparsity.telling_lane(i, l))) {
          rows_[i] = *o;
          any_ = true;
        }
  }

  Undefined result(int r, bool adds) const {
    Undefined to;
    to.place = ins_.result(r);
    to.width = 4;
    const Undefined* addend =
        adds ? values_.undefined(warp_, to.place) : nullptr;
    const int in_tile = p_.tile.registers(), per = p_.tile.per_register();
    for (int l = 0; l < kLanes; ++l)
      for (int e = 0; e < per; ++e) {
        const Step at = p_.tile.place(l, r % in_tile * per + e);
        const auto& column = columns_[r / in_tile * kTile + at.column];
        const uint64_t bits = ~0ull >> (64 - p_.tile.bits())
                                           << (e * p_.tile.bits());
        if (rows_[at.row])
          doubt(to, l, bits, *rows_[at.row]);
        else if (column)
          doubt(to, l, bits, *column);
        else if (addend && addend->bits_of(l) & bits)
          doubt(to, l, bits, addend->origin[l]);
      }
    return to;
  }
  static void doubt(Undefined& to, int lane, uint64_t bits, Origin why) {
    why.moved = 0;
    if (!(to.lanes >> lane & 1)) to.origin[lane] = why;
    to.lanes |= 1u << lane;
    to.bits[lane] |= bits;
  }

  Warp& warp_;
  const Instruction& ins_;
  const WarpgroupProduct& p_;
  Values& values_;
  std::optional<Origin> rows_[kRows], columns_[kMostColumns];
  bool any_ = false;
};

void multiply(Warp& warp, const Instruction& ins, GroupOperands& in,
              bool adds) {
  const WarpgroupProduct& p = *ins.product;
  in.read();
  std::optional<Factors> a;
  const bool floats = p.d != Number::kInt32;
  if (floats) a.emplace(p.a, in.a, kRows * p.in_row());
  for (int t = 0; t < p.tiles(); ++t) {
    Place places[4];
    for (int r = 0; r < p.tile.registers(); ++r)
      places[r] = ins.result(t * p.tile.registers() + r);
    uint32_t d[kTileElements] = {};
    if (adds) p.tile.unpack(warp, places, d);
    const uint32_t* b = in.b + t * p.k * kTile;
    if (floats)
      add_floats(p, *a, in, b, d);
    else
      (p.a == Number::kBits ? add_bits : add_wholes)(p, in, b, d);
    p.tile.pack(warp, places, d);
  }
}

}  // namespace

// What it computes is there at once: who may not look at it yet is told so.
void multiply_in_warpgroup(Warp& warp, const Instruction& ins, uint32_t mask) {
  require_all_lanes(warp, ins, mask);
  join_warpgroup(warp, ins);
  const bool accumulates = adds(warp, ins);
  GroupOperands in(warp, ins);
  const AsyncProduct& product = warp.block->copies.products.emplace_back(
      AsyncProduct{&warp,
                   &ins,
                   warp.product_groups,
                   warp.products_begun - 1,
                   accumulates,
                   in.chunks(),
                   {}});
  if (warp.block->observers.checker)
    GroupDoubts(warp, ins, product).follow(accumulates);
  observe::multiplies(product);
  multiply(warp, ins, in, accumulates);
}

}  // namespace simt
