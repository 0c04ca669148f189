// Notes what a launch does that other work may meet.
#include "common/simt/observe/other_work.h"

#include "common/simt/memory/allocations.h"
#include "common/simt/observe/overlaps.h"

namespace simt {
namespace {

// A kernel that stores where it has loaded mostly does so from the beginning:
// so many stores are looked at for it at once.
constexpr int kEarly = 256;

}  // namespace

OtherWork::OtherWork(const Grid& grid)
    : grid_(grid),
      trails_(grid.shape.operation || grid.undo ? std::make_unique<Trails>(grid)
                                                : nullptr),
      loads_apart_(grid.undo && grid.loads_apart) {
  if (grid.undo) keeper_.emplace(*grid.undo);
}

void OtherWork::access(const Warp& warp, const Instruction& ins,
                       const Access& a, uint32_t mask) {
  if (keeper_) return note_for_undo(warp, ins, a, mask);
  const bool meets_host = warp.block->meets_host;
  Operation& operation = *grid_.shape.operation;
  if (!meets_host && !operation.everything) return;
  if (meets_host && !operation.meets_host) operation.meets_host = true;
  if (meets_host && ins.strength != Strength::kWeak && !is_without_host(ins))
    note_flag(a);
  note_parts(warp, ins, a, a.mask & mask);
}

// Apart: by lanes for which the kernel in front may not be done yet.
void OtherWork::note_parts(const Warp& warp, const Instruction& ins,
                           const Access& a, uint32_t mask) {
  const uint32_t ahead = early(warp, mask);
  trails_->note(warp, ins, a, mask & ~ahead);
  if (ahead) trails_->note(warp, ins, a, ahead, true);
}

uint32_t OtherWork::early(const Warp& warp, uint32_t mask) {
  if (!grid_.shape.begins_early) return 0;
  BlockChecks& checks = *warp.block->checks;
  return checks.front.early(warp, checks.order, mask);
}

// The launch is taken back if this meets what another host thread's blocks do;
// and if it concerns more than device memory.
void OtherWork::note_for_undo(const Warp& warp, const Instruction& ins,
                              const Access& a, uint32_t mask) {
  if (loads_apart_ && a.use == Use::kLoad)
    trails_->note_load(a, a.mask & mask);
  else if (is_compared(grid_))
    note_parts(warp, ins, a, a.mask & mask);
  else
    trails_->note_place(ins, a, a.mask & mask);
  if (a.use != Use::kLoad) note_store_for_undo(a);
  if (warp.block->meets_host ||
      !allocations().in_arena(a.address[first_lane(a.mask)]))
    grid_.undo->give_up();
}

void OtherWork::note_store_for_undo(const Access& a) {
  a.each_span([&](const Access::Span& s) { keeper_->keep(s.begin, s.end); });
  if (!loads_apart_ || early_stores_ >= kEarly) return;
  ++early_stores_;
  if (trails_->has_loaded(a)) grid_.undo->give_up_for_loads();
}

// It may be one between the kernel and the host.
void OtherWork::note_flag(const Access& a) {
  Operation& operation = *grid_.shape.operation;
  if (operation.speaks) return;
  const auto found = allocations().find(a.address[first_lane(a.mask)]);
  if (found && !found->is_device_only()) overlaps().speak(operation);
}

void OtherWork::copy(const AsyncCopy& copy) {
  Operation& operation = *grid_.shape.operation;
  const bool meets_host = copy.warp->block->meets_host;
  if (!meets_host && !operation.everything) return;
  if (meets_host) operation.meets_host = true;
  for (const Access* a : {copy.from ? &*copy.from : nullptr, &copy.to})
    if (a && a->space == Space::kGlobal && !copy.reduction)
      trails_->note_copy(*copy.ins, *a, early(*copy.warp, a->mask));
}

void OtherWork::fence(const Warp& warp, const Instruction& ins) {
  if (warp.block->meets_host && ins.statement->has("sys"))
    overlaps().speak(*grid_.shape.operation);
}

// Constants are what the host makes them: a launch that comes again may find
// others, and work in another stream may change them meanwhile.
void OtherWork::constants(const Warp& warp, const Instruction& ins,
                          const Access& a) {
  if (keeper_) trails_->note_load(a, a.mask);
  if (is_compared(grid_)) note_parts(warp, ins, a, a.mask);
}

// All of it counts as loaded: who can tell where its filters look?
void OtherWork::texture(const Texture& texture) {
  if (!keeper_ || texture_ == &texture) return;
  texture_ = &texture;
  const auto note = [&](const Image& image) {
    const auto memory = allocations().find(image.address);
    if (!memory || !memory->is_device_only()) grid_.undo->give_up();
    trails_->note_loads(image.address, image.address + image.bytes());
  };
  note(texture.image);
  for (const Image& level : texture.levels) note(level);
}

void OtherWork::let_next_begin(const Warp& warp, uint32_t mask) {
  handover_.before_it_ends = true;
  if (!grid_.shape.begins_early) return;
  BlockChecks& checks = *warp.block->checks;
  checks.front.let_next_begin(warp, checks.order, mask);
}

void OtherWork::end(const BlockChecks& checks) {
  if (checks.front.waits_first()) handover_.waits_first = true;
}

Footprint OtherWork::footprint() {
  return trails_ ? trails_->footprint() : Footprint{};
}

TouchedBytes OtherWork::loaded() { return trails_->loaded(); }

void OtherWork::add(OtherWork& other) {
  if (grid_.undo && trails_->meets(*other.trails_)) grid_.undo->give_up();
  if (grid_.undo && (other.trails_->has_missed(*other.trails_) ||
                     other.trails_->has_missed(*trails_) ||
                     trails_->has_missed(*other.trails_))) {
    if (loads_apart_)
      grid_.undo->give_up_for_loads();
    else  // It is a texture's memory.
      grid_.undo->give_up();
  }
  if (trails_) trails_->add(*other.trails_);
  handover_.add(other.handover_);
}

}  // namespace simt
