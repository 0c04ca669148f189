// Hands what happens in a block to those who check it, and sees which accesses
// need no look.
#include "common/simt/observe/checker.h"

#include <algorithm>
#include <string>

#include "common/simt/core/names.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/places.h"
#include "common/simt/observe/written_memory.h"

namespace simt {
namespace {

// Of a block, in a MiB.
constexpr size_t kPostponed = 2048;

// Arrays of which each begins where the others do.
bool has_several_dynamic(const Program& program) {
  const auto& used = program.dynamic_shared;
  return std::ranges::any_of(used, [&](const Program::Address& one) {
    return one.array != used.front().array;
  });
}

}  // namespace

Checker::Checker(const Grid& grid)
    : grid_(grid),
      found_(grid),
      has_several_dynamic_(has_several_dynamic(grid.program)),
      other_work_(grid),
      races_(grid, found_),
      values_(found_, grid) {}

void Checker::start(Block& block) {
  block.checks->start(block, races_.now());
  values_.start(block);
}

void Checker::end(Block& block) {
  races_.forget_shared(block.checks->order.number);
  other_work_.end(*block.checks);
  check_visits(block);
}

void Checker::add(Checker& other) {
  other_work_.add(other.other_work_);
  found_.add(other.found_);
}

// ---- Accesses --------------------------------------------------------------

// The lanes whose access counts: not those that drop what their load brings.
uint32_t Checker::kept(Warp& warp, const Instruction& ins) const {
  return ins.dropped ? keepers(grid_.program, warp, ins) : kAllLanes;
}

void Checker::access(Warp& warp, const Instruction& ins, const Access& a) {
  const bool shared = a.space == Space::kShared;
  const bool global = a.space == Space::kGlobal;
  if (shared && a.operand.array >= 0) check_array(warp, ins, a);
  if (other_work_.is_asked() && global) [[unlikely]]
    other_work_.access(warp, ins, a, kept(warp, ins));
  const bool fresh = is_fresh(ins, a);  // Before it is written.
  values_.access(warp, ins, a);
  if (races_.full()) return;
  if (other_work_.loads_apart() && global &&
      (a.use == Use::kLoad || ins.commutes))
    return;
  if (ins.strength == Strength::kWeak && is_reserved(a)) return;
  if (ins.dropped)
    check_kept(warp, ins, a);
  else
    check_races(warp, ins, a, fresh);
  if (grid_.shape.kin && global) check_kin(warp, ins, a);
  if (shared && a.owner) note_visit(warp, ins, a);
}

// By itself: of few loads some lanes drop what they bring.
[[gnu::noinline]] void Checker::check_kept(Warp& warp, const Instruction& ins,
                                           const Access& a) {
  Access some = a;
  some.mask &= kept(warp, ins);
  some.dense &= some.mask == kAllLanes;
  if (some.mask) check_races(warp, ins, some, false);
}

void Checker::check_races(Warp& warp, const Instruction& ins, const Access& a,
                          bool fresh) {
  races_.settle_clashes(warp, a);
  check_order(warp, ins, a, fresh);
}

// Of stores that others' volatile loads may meet.
bool Checker::is_fresh(const Instruction& ins, const Access& a) const {
  if (ins.strength == Strength::kWeak || a.use != Use::kStore ||
      a.space != Space::kGlobal)
    return false;
  Allocations& all = allocations();
  return all.in_arena(a.address[first_lane(a.mask)]) &&
         device_memory(all).missing(a) == a.mask;
}

// The system's own code goes there, as cooperative groups': its shuffles hand
// on what PTX says they do not. Its flags order what the program does.
bool Checker::is_reserved(const Access& a) const {
  return a.space == Space::kShared && grid_.reserves_shared() &&
         a.address[first_lane(a.mask)] >= grid_.reserved_begin();
}

void Checker::private_access(Warp& warp, const Instruction& ins,
                             const Access& a) {
  if (a.space == Space::kConst) other_work_.constants(warp, ins, a);
  values_.access(warp, ins, a);
}

// Written, by a surface, or (null) read.
void Checker::texel(Warp& warp, const Instruction& ins, int lane,
                    uint64_t address, uint32_t bytes, const uint8_t* written) {
  if (races_.full() || (other_work_.loads_apart() && !written)) return;
  static const Address kTexel{kNowhere, Space::kGlobal};
  Access a(kTexel, bytes, written ? Use::kStore : Use::kLoad);
  a.base = reinterpret_cast<uint8_t*>(allocations().distance(address));
  a.mask = 1u << lane;
  a.address[lane] = address;
  a.staged = written ? written - lane * kMatrixBytes : nullptr;
  check_order(warp, ins, a, false);
}

// `fresh`: a store where nobody had written.
void Checker::check_order(Warp& warp, const Instruction& ins, const Access& a,
                          bool fresh) {
  if (postpones(warp, ins, a)) return;
  Mine mine = races_.mine_of(warp, ins, a);
  mine.fresh = fresh;
  if (!warp.block->copies.empty() || a.owner) against_copies(mine);
  if (ins.strength != Strength::kWeak) races_.synchronise(mine);
  races_.check(mine);
}

bool Checker::postpones(Warp& warp, const Instruction& ins, const Access& a) {
  BlockChecks& checks = *warp.block->checks;
  const bool shared = a.space == Space::kShared;
  const bool weak = ins.strength == Strength::kWeak;
  if (!checks.postpones || (!shared && weak)) return false;
  if (shared && weak && a.use == Use::kLoad && warp.block->copies.empty() &&
      checks.postponed.size() < kPostponed) {
    checks.postponed.push_back({&warp, &ins, a});
    checks.postponed.back().access.displacement = nullptr;  // It is resolved.
    return true;
  }
  enter_postponed(*warp.block);
  return false;
}

// From here on each is looked at, until all threads meet.
void Checker::enter_postponed(Block& block) {
  BlockChecks& checks = *block.checks;
  checks.postpones = false;
  for (const BlockChecks::Load& load : checks.postponed) {
    Mine mine = races_.mine_of(*load.warp, *load.ins, load.access);
    races_.check(mine);
  }
  checks.postponed.clear();
}

void Checker::check_array(Warp& warp, const Instruction& ins, const Access& a) {
  const auto& arrays = grid_.program.shared_arrays;
  const Program::SharedArray& array = arrays[a.operand.array];
  const Extent e = extent(grid_, array);
  if (a.is_within(e.begin, e.end)) {
    if (array.dynamic && has_several_dynamic_) check_names(warp, ins, a, e);
    return;
  }
  uint32_t outside = 0;
  for (int l = 0; l < kLanes; ++l)
    outside |=
        uint32_t{a.address[l] < e.begin || a.address[l] + a.bytes > e.end} << l;
  outside &= a.mask;
  if (!outside) return;
  if (found_.again("array overrun", ins.site)) return;
  const int lane = first_lane(outside);
  Finding f = finding_at(
      warp, ins, lane, "array overrun",
      std::string(verb(a.use)) + " of " + std::to_string(a.bytes) +
          " bytes that leaves the " + std::to_string(e.end - e.begin) +
          "-byte shared array " + variable_name(array.name) + " and meets " +
          text_of_place(grid_, Space::kShared, a.address[lane]));
  f.address = a.address[lane];
  found_.add("array overrun", ins.site, std::move(f));
}

// All extern __shared__ arrays begin at the same address. A kernel may use one
// after the other, but seldom means to read by one name what another stored.
void Checker::check_names(Warp& warp, const Instruction& ins, const Access& a,
                          const Extent& dynamic) {
  if (a.owner) return;
  std::vector<int16_t>& stored_by = warp.block->checks->stored_by;
  stored_by.resize((dynamic.end - dynamic.begin + 3) / 4, BlockChecks::kNobody);
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    int16_t& by = stored_by[(a.address[lane] - dynamic.begin) / 4];
    if (a.use != Use::kLoad)
      by = a.operand.array;
    else if (by != BlockChecks::kNobody && by != a.operand.array)
      tell_names(warp, ins, lane, by, a.operand.array);
  }
}

void Checker::tell_names(Warp& warp, const Instruction& ins, int lane,
                         int stored, int read) {
  constexpr char kSame[] = "same array";
  if (found_.again(kSame, ins.site)) return;
  const auto name = [&](int array) {
    return variable_name(grid_.program.shared_arrays[array].name);
  };
  Finding f = finding_at(
      warp, ins, lane, kSame,
      "it reads by the name " + name(read) + " what was stored by the name " +
          name(stored) +
          ": extern __shared__ arrays all begin at the same address. Declare "
          "one, and let the second part begin behind the first");
  f.note = true;
  found_.add(kSame, ins.site, std::move(f));
}

void Checker::unknown_conversion(const Warp& warp, const Instruction& ins,
                                 int lane, std::string conversion) {
  constexpr char kUnknown[] = "unknown conversion";
  if (found_.again(kUnknown, ins.site)) return;
  std::string message = "a GPU's printf does not know " + conversion +
                        ". It takes the wrong arguments for all that follows. "
                        "The argument is an int anyway: use ";
  std::erase(conversion, 'h');
  found_.add(kUnknown, ins.site,
             finding_at(warp, ins, lane, kUnknown, message + conversion));
}

}  // namespace simt
