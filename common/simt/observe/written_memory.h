// What is known of the bytes of a memory: which are written, and what of the
// others is a copy of an undefined value.
#pragma once
#include <cstdint>

#include "common/simt/core/byte_set.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/block_checks.h"
#include "common/simt/observe/undefined.h"

namespace simt {

template <class Set>
struct WrittenMemory {
  Set& written;
  uint64_t origin;  // `written` holds bytes by their distance from here
  Copies* copies;   // null: a copy of an undefined value is an error there

  // Lanes that want a byte which nobody has written.
  uint32_t missing(const Access& a) const {
    uint32_t lanes = 0;
    a.each_span([&](const Access::Span& s) {
      if (!is_written(s.begin, s.end - s.begin))
        for (int l = s.first; l < s.first + s.lanes; ++l)
          lanes |= uint32_t{!is_written(a.address[l], a.bytes)} << l;
    });
    return lanes & a.mask;
  }
  bool is_written(uint64_t address, uint32_t bytes) const {
    return written.contains(address - origin, address - origin + bytes);
  }
  bool any_written(uint64_t begin, uint64_t end) const {
    while (begin < end && !is_written(begin, 1)) ++begin;
    return begin < end;
  }
  uint64_t first_missing(uint64_t begin) const {
    while (is_written(begin, 1)) ++begin;
    return begin;
  }
  void write(uint64_t address, uint32_t bytes) const {
    written.insert(address - origin, address - origin + bytes);
  }
  void unwrite(uint64_t address) const {
    written.erase(address - origin, address - origin + 1);
  }
  const Copied* copied(uint64_t address) const {
    return copies ? copies->find(address) : nullptr;
  }
};

// A block's shared memory; a warp's stacks; what was allocated on the device.
inline WrittenMemory<ByteSet> shared_memory(BlockChecks& checks) {
  return {checks.written, 0, &checks.copies};
}
inline WrittenMemory<ByteSet> stacks_of(WarpValues& values) {
  return {values.stack, 0, &values.stack_copies};
}
inline WrittenMemory<WrittenBytes> device_memory(Allocations& all) {
  return {all.written(), all.arena_begin(), nullptr};
}

// Memory of the host, and constants: all of it is written.
struct HostBytes {
  bool contains(uint64_t, uint64_t) const { return true; }
  void insert(uint64_t, uint64_t) {}
  void erase(uint64_t, uint64_t) {}
};
inline WrittenMemory<HostBytes> host_memory() {
  static HostBytes all_written;
  return {all_written, 0, nullptr};
}

}  // namespace simt
