// What a launch means for other work: where it went in global memory, if its
// operation asks for that; whether it must be taken back; how it lets the next
// kernel begin.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/core/grid.h"
#include "common/simt/memory/images.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/block_checks.h"
#include "common/simt/observe/footprint.h"
#include "common/simt/observe/handover.h"

namespace simt {

class OtherWork {
 public:
  explicit OtherWork(const Grid& grid);

  // Does anybody want to know where the launch goes?
  bool is_asked() const { return trails_ != nullptr; }
  // Loads of global memory are compared with stores in the end, by where they
  // went, and not one by one.
  bool loads_apart() const { return loads_apart_; }

  // If it is asked: lanes of `mask` access global memory, or copy it, or make a
  // fence.
  [[gnu::noinline]] void access(const Warp& warp, const Instruction& ins,
                                const Access& a, uint32_t mask);
  void copy(const AsyncCopy& copy);
  void fence(const Warp& warp, const Instruction& ins);
  // Asked or not: lanes read constants; filters read a texture.
  void constants(const Warp& warp, const Instruction& ins, const Access& a);
  void texture(const Texture& texture);
  // Lanes let the next kernel begin; a block ends.
  void let_next_begin(const Warp& warp, uint32_t mask);
  void end(const BlockChecks& checks);

  Footprint footprint();
  const Handover& handover() const { return handover_; }
  // What was loaded, if the launch may be taken back.
  TouchedBytes loaded();
  void add(OtherWork& other);

 private:
  void note_parts(const Warp& warp, const Instruction& ins, const Access& a,
                  uint32_t mask);
  void note_for_undo(const Warp& warp, const Instruction& ins, const Access& a,
                     uint32_t mask);
  void note_store_for_undo(const Access& a);
  void note_flag(const Access& a);
  uint32_t early(const Warp& warp, uint32_t mask);

  const Grid& grid_;
  const std::unique_ptr<Trails> trails_;  // null: nobody wants to know
  std::optional<Undo::Keeper> keeper_;    // none: it is not taken back
  const bool loads_apart_;
  const Texture* texture_ = nullptr;  // that was read last
  int early_stores_ = 0;
  Handover handover_;
};

}  // namespace simt
