// Races: accesses to the same bytes that nothing orders. Each is compared with
// those that the shadow of the memory remembers, and is then remembered itself.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "common/simt/core/grid.h"
#include "common/simt/observe/access_tables.h"
#include "common/simt/observe/clashes.h"
#include "common/simt/observe/flags.h"
#include "common/simt/observe/found.h"
#include "common/simt/observe/mine.h"
#include "common/simt/observe/verdict.h"

namespace simt {

class Races {
 public:
  Races(const Grid& grid, Found& found);

  Mine mine_of(Warp& warp, const Instruction& ins, const Access& a);
  void synchronise(Mine& mine) { flags_.synchronise(mine); }
  void check(Mine& mine);
  // Clashes of the block's stores end here that the access reads, or covers.
  void settle_clashes(const Warp& warp, const Access& a);
  // Did a lane's access come before what a lane of mine does?
  bool ordered(const Mine& mine, const Event& event, Time time, int lane,
               int other) const;

  EventLog& log() { return tables_->log; }
  Time now() const { return tables_->log.now(); }
  // There are no times left: nothing is compared any more.
  bool full() const { return tables_->log.full(); }
  void forget_shared(uint32_t block) { tables_->releases.forget_shared(block); }

 private:
  // races.cpp
  const Instruction& instruction(const Event& event) const {
    return grid_.program.instruction(event.site);
  }
  void check_run(Mine& mine, int first, int lanes);
  void check_lane(Mine& mine, int lane, Time time);
  void against_runs(Mine& mine, const Line& line, const Event& run,
                    uint64_t begin, uint64_t end);
  void against_run(Mine& mine, Time time, const Event& run, uint64_t begin,
                   uint64_t end);
  void against_words(Mine& mine, const Event& run, uint64_t begin,
                     uint64_t end);
  void against_word(Mine& mine, const Word& word, uint64_t at,
                    const Touch& touch);
  void compare(Mine& mine, Conflict& conflict, const Event& event, Time time,
               int lane, int other, uint64_t address);
  bool is_clash(const Mine& mine, const Event& event) const;
  void enter_clash(const Mine& mine, const Conflict& conflict,
                   const Event& event, Time time, uint8_t bytes);

  // ordered.cpp
  bool handed_over(const Mine& mine, const Event& event, Time time, int other,
                   Time until) const;
  bool reaches(const Instruction& ins, const Mine& mine,
               const Event& event) const;
  bool may_meet(const Mine& mine, const Event& event) const;
  bool waited(const Mine& mine, const Word& word, const Event& event, Time time,
              int lane) const;
  bool counted(const Mine& mine, const Word& word, const Event& event,
               Time time, int lane) const;

  // remembered.cpp
  Event event_of(const Mine& mine, int first, int lanes) const;
  void enter_run(Mine& mine, std::span<Time> slots, Time time, uint64_t begin,
                 uint64_t end);
  bool replaces(const Mine& mine, const Event& run, const Event& event,
                Time time, uint64_t begin, uint64_t end) const;
  void enter_lane(Mine& mine, Word& word, const Touch& touch);
  void keep_other_bytes(const Mine& mine, Word& word, const Touch& touch) const;

  // race_reports.cpp
  void report(const Mine& mine, const Conflict& conflict, const Event& event,
              Time time);
  std::string message(const Mine& mine, const Conflict& conflict,
                      const Event& event, const Finding& finding) const;
  std::string other_access(const Mine& mine, const Event& event,
                           const Finding& finding) const;
  std::string place_of(const Mine& mine, uint64_t address) const;
  Remedy remedy(const Mine& mine, const Conflict& conflict, const Event& event,
                Time time) const;
  Remedy remedy_in_block(const Mine& mine, const Event& event) const;

  const Grid& grid_;
  Found& found_;
  LentTables tables_;
  Flags flags_;
  const Time begin_;  // of the launch
};

}  // namespace simt
