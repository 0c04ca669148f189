// Finds what a kernel does wrong without being stopped by it: races (races.h),
// values that nobody wrote (values.h), a shared array left for its neighbour,
// barriers that differ, masks from activemask.
//
// Bounds and alignment are not its business: isa/memory/places.cpp always
// checks them, for the host's own sake.
#pragma once
#include <string>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/observe/block_checks.h"
#include "common/simt/observe/found.h"
#include "common/simt/observe/kin.h"
#include "common/simt/observe/other_work.h"
#include "common/simt/observe/races.h"
#include "common/simt/observe/values.h"

namespace simt {

struct Extent;

// One host thread's checks of a launch.
class Checker {
 public:
  explicit Checker(const Grid& grid);

  void start(Block& block);
  void end(Block& block);
  void access(Warp& warp, const Instruction& ins, const Access& access);
  void private_access(Warp& warp, const Instruction& ins, const Access& access);
  void texture(const Texture& texture) { other_work_.texture(texture); }
  void texel(Warp& warp, const Instruction& ins, int lane, uint64_t address,
             uint32_t bytes, const uint8_t* written);
  // Lanes begin to copy; copies of `mask` are about to be made.
  void begin(const AsyncCopy& copy);
  void end(const AsyncCopy& copy, uint32_t mask);
  void take(const AsyncCopy& copy);
  void abandon(const AsyncCopy& copy);
  // A warp begins to multiply; one of its warpgroup has waited for that, which
  // returns whether it is to be kept; before that a warp is at an instruction.
  void begin(const AsyncProduct& product);
  bool waited(AsyncProduct& product, const Warp& warp);
  void follow(Warp& warp, const Instruction& ins, uint32_t mask);
  // Lanes do something at barriers in shared memory; lanes of `mask` arrive.
  void mbarrier(Warp& warp, const Instruction& ins, const Access& a);
  void hand_over(Warp& warp, const Access& barriers, int lane);
  void collective(Warp& warp, const Instruction& ins, uint32_t mask,
                  uint32_t members);
  void unknown_conversion(const Warp& warp, const Instruction& ins, int lane,
                          std::string conversion);
  void fence(Warp& warp, const Instruction& ins, uint32_t mask);
  void fence_for_copies(Warp& warp);
  void fence_inits(Warp& warp);
  // Lanes have waited for the kernel in front; lanes let the next one begin.
  void wait_for_front(Warp& warp, uint32_t mask);
  void let_next_begin(Warp& warp, uint32_t mask) {
    other_work_.let_next_begin(warp, mask);
  }
  void arrive(Warp& warp, const Instruction& ins, uint32_t mask,
              uint32_t barrier);
  void arrive_relaxed(Warp& warp, uint32_t barrier);
  // A warp goes on from the cluster's barrier, which has been open for a while.
  void pass(Warp& warp, uint32_t barrier);
  // A barrier of the block opens; `counted`: not for all of its threads.
  // The lanes `waiting` go on.
  void release(Block& block, uint32_t barrier, bool counted,
               const LanesByWarp& waiting);
  Values& values() { return values_; }
  // What a lane knows that launches another grid now.
  Moment moment(const Warp& warp, int lane) const;

  // What was found, each once, in the order in which it was found first.
  std::vector<Finding> findings() const { return found_.all(); }
  // Where the launch went in global memory, if its operation asks for it.
  Footprint footprint() { return other_work_.footprint(); }
  const Handover& handover() const { return other_work_.handover(); }
  // What was loaded of it, if the launch may be taken back.
  TouchedBytes loaded() { return other_work_.loaded(); }
  void add(Checker& other);

 private:
  // checker.cpp
  uint32_t kept(Warp& warp, const Instruction& ins) const;
  void check_kept(Warp& warp, const Instruction& ins, const Access& a);
  void check_races(Warp& warp, const Instruction& ins, const Access& a,
                   bool fresh);
  void check_order(Warp& warp, const Instruction& ins, const Access& a,
                   bool fresh);
  bool is_reserved(const Access& a) const;
  bool is_fresh(const Instruction& ins, const Access& a) const;
  bool postpones(Warp& warp, const Instruction& ins, const Access& a);
  void enter_postponed(Block& block);
  void check_names(Warp& warp, const Instruction& ins, const Access& a,
                   const Extent& dynamic);
  void tell_names(Warp& warp, const Instruction& ins, int lane, int stored,
                  int read);
  void check_array(Warp& warp, const Instruction& ins, const Access& a);

  // barriers.cpp
  void note_absent(Block& block, const Instruction& ins);
  void note_different(Warp& warp, const Instruction& ins, uint32_t mask,
                      const BarrierOrder& barrier);
  void note_stranger(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t number);
  void release_counted(Block& block, uint32_t barrier,
                       const LanesByWarp& waiting);

  // visits.cpp: another block's shared memory
  void note_visit(Warp& warp, const Instruction& ins, const Access& a);
  void check_visits(const Block& block);

  // kin_races.cpp: grids that launch one another
  void check_kin(Warp& warp, const Instruction& ins, const Access& a);
  void against_kin(const Mine& mine, int lane, uint64_t word,
                   const Kin::Touch& other);
  void race_of_kin(const Mine& mine, int lane, uint64_t address,
                   const Kin::Touch& other);

  // copies.cpp: copies that go on beside their threads
  void check_copy(const AsyncCopy& copy, const Access& a, uint32_t mask,
                  bool ends);
  // What reads shared memory as bulk copies do, and is told of.
  struct Reader {
    Warp& warp;
    const Instruction& ins;
    int lane;
    std::string name;

    bool multiplies() const { return ins.statement->name() == "wgmma"; }
  };
  void check_fence(const AsyncCopy& copy);
  bool is_unfenced(const Reader& reader, uint64_t begin, uint64_t end);
  void unfenced_write(const Reader& reader, const Event& event, int other,
                      uint64_t address);
  void against_copies(const Mine& mine);
  void against_copy(const Mine& mine, const AsyncCopy& copy, const Access& a);
  void against_part(const Mine& mine, const AsyncCopy& copy, const Access& a,
                    bool is_target);
  void early(const Mine& mine, int lane, const AsyncCopy& copy, int other,
             uint64_t address, bool is_target);

  // products.cpp: products that go on beside their warps
  void check_reads(const AsyncProduct& product);
  void check_fences(const AsyncProduct& product);
  void against_products(const Mine& mine, Block& block);
  bool has_read(const Mine& mine, int lane, const Block& block,
                const AsyncProduct& product) const;
  void overwritten(const Mine& mine, int lane, const AsyncProduct& product,
                   uint64_t address);
  void carry(Warp& warp, const Instruction& ins, uint64_t memory);
  bool is_lost(const Warp& warp, const uint8_t* at) const;
  void not_awaited(Warp& warp, const Instruction& ins, const InFlight& result,
                   const char* does);

  const Grid& grid_;
  Found found_;
  const bool has_several_dynamic_;  // extern __shared__ arrays
  OtherWork other_work_;
  Races races_;
  Values values_;
};

}  // namespace simt
