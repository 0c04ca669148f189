// What threads hand over by flags: a fence, and then an atomic or a volatile
// store that others read.
#pragma once
#include <cstdint>

#include "common/simt/core/grid.h"
#include "common/simt/observe/access_tables.h"
#include "common/simt/observe/mine.h"

namespace simt {

// What a lane accesses, as a flag: shared memory is another one in each block.
uint64_t flag_of(const Mine& mine, int lane);

class Flags {
 public:
  Flags(const Grid& grid, AccessTables& tables);
  // An access that is atomic or volatile hands over what fences have covered,
  // and reads what others have handed over.
  void synchronise(Mine& mine);

 private:
  void of_lane(Mine& mine, int lane, bool sees_all, bool reads);
  Lesson lesson_of(Mine& mine, int lane, uint64_t flag, bool sees_all);
  Lesson waited_for(Mine& mine, int lane, uint64_t flag);

  const Grid& grid_;
  EventLog& log_;
  Releases& releases_;
  const bool alone_;    // the only host thread
  const bool watches_;  // some loop of the kernel may wait for a flag
};

}  // namespace simt
