// Races between grids that launch one another.
#include "common/simt/core/grid.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

constexpr char kBetweenGrids[] = "race between grids";

const char* remedy_between_grids(bool with_parent) {
  return with_parent
             ? "A child may run as soon as it is launched. It comes after "
               "what the launching thread did before, and what other threads "
               "of its block did before a __syncthreads() in front of the "
               "launch. A launch into cudaStreamTailLaunch comes after all of "
               "the parent"
             : "Grids that a kernel launches wait for one another in the same "
               "stream of the same block, or by events";
}

}  // namespace

Moment Checker::moment(const Warp& warp, int lane) const {
  const WarpOrder& order = warp.block->checks->order.warps[warp.index];
  return {static_cast<uint32_t>(warp.block->number), races_.now(),
          order.lessons(1u << lane)};
}

void Checker::check_kin(Warp& warp, const Instruction& ins, const Access& a) {
  const Mine mine = races_.mine_of(warp, ins, a);
  Kin& kin = *grid_.shape.kin;
  Kin::Touch touch{&ins, grid_.shape.member,
                   static_cast<uint32_t>(warp.block->number), races_.now() - 1};
  touch.stores = mine.stores;
  for (uint32_t rest = a.mask & kept(warp, ins); rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    touch.thread = static_cast<uint16_t>(warp.index * kLanes + lane);
    const uint64_t begin = a.address[lane];
    each_word(begin, begin + a.bytes, [&](uint64_t at, uint8_t bytes) {
      touch.bytes = bytes;
      kin.enter(at / 4, touch, [&](const Kin::Touch& other) {
        against_kin(mine, lane, at, other);
      });
    });
  }
}

void Checker::against_kin(const Mine& mine, int lane, uint64_t address,
                          const Kin::Touch& other) {
  const Kin& kin = *grid_.shape.kin;
  const Instruction& ins = mine.ins;
  const bool both_strong =
      ins.strength != Strength::kWeak && other.ins->strength != Strength::kWeak;
  const bool guesses =
      ins.guess != Guess::kNone || other.ins->guess != Guess::kNone;
  if (both_strong || guesses || kin.is_before(other, grid_.shape.member))
    return;
  const bool same_value = other.stores && mine.access.use == Use::kStore &&
                          other.ins->strength == Strength::kWeak &&
                          stores_same(mine, lane, -1);
  if (!same_value) race_of_kin(mine, lane, address, other);
}

void Checker::race_of_kin(const Mine& mine, int lane, uint64_t address,
                          const Kin::Touch& other) {
  const Kin& kin = *grid_.shape.kin;
  const Relative& them = kin.relative(other.member);
  const Program& program = *them.kernel->program;
  // Sites are numbers of each kernel's own.
  const auto key = static_cast<uint32_t>(other.ins->site ^ program.sites);
  if (found_.again(kBetweenGrids, mine.ins.site, key)) return;
  Finding f = finding_at(mine.warp, mine.ins, lane, kBetweenGrids, "");
  f.address = address;
  f.has_other = true;
  f.other_block = coordinates(other.block, them.blocks);
  f.other_thread = coordinates(other.thread, them.threads);
  const SourceLine where = other.ins->where;
  if (where.line) {
    f.other_file = program.module->text.files.at(where.file);
    f.other_line = where.line;
  }
  const bool is_parent =
      kin.meeting(grid_.shape.member, other.member).at == other.member;
  f.message =
      std::string(verb(mine.access.use)) + " of " +
      std::to_string(mine.access.bytes) + " bytes, and nothing orders it and " +
      "the " + (other.stores ? "write" : "read") + " by thread " +
      triple(f.other_thread) + " of block " + triple(f.other_block) + " of " +
      them.kernel->name + (where.line ? " at " + program.location(where) : "") +
      ", of " + text_of_place(grid_, mine.access.space, address) + ". " +
      remedy_between_grids(is_parent);
  found_.add(kBetweenGrids, mine.ins.site, key, std::move(f));
}

}  // namespace simt
