// What the checker knows of one block.
#pragma once
#include <cstdint>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/core/byte_set.h"
#include "common/simt/observe/clashes.h"
#include "common/simt/observe/front_waits.h"
#include "common/simt/observe/order.h"
#include "common/simt/observe/shadow.h"
#include "common/simt/observe/undefined.h"

namespace simt {

struct BlockChecks {
  BlockChecks(size_t shared_bytes, uint32_t threads);

  void start(const Block& block, Time now);

  BlockOrder order;
  Shadow shared;
  std::vector<uint64_t> written_bits;
  ByteSet written;  // of shared memory
  std::vector<uint64_t> busy_bits;
  ByteSet busy;   // of shared memory, too: asynchronous copies are at it
  Copies copies;  // of what nobody has written, there
  // By which array's name the words of the dynamic part were stored last, in a
  // kernel that has several; empty in others.
  static constexpr int16_t kNobody = -1;
  std::vector<int16_t> stored_by;
  std::vector<WarpValues> values;
  FrontWaits front;
  Clashes clashes;

  // Loads of shared memory since all threads last met, while nobody has stored
  // there: nothing can be wrong with them, and mostly nothing ever is, so they
  // are entered only if somebody stores, or if some of the threads meet.
  struct Load {
    Warp* warp;
    const Instruction* ins;
    Access access;
  };
  std::vector<Load> postponed;
  bool postpones = true;
};

}  // namespace simt
