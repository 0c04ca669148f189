// Device memory: every range a kernel may touch, and what surrounds it.
//
// All of it lies in one arena of reserved addresses, at the same place in every
// run, so that printed pointers, alignment and counters repeat. The arena costs
// nothing until it is touched. Each array is followed by a red zone that
// belongs to nobody, and a freed one is not handed out again for a while, so
// that a kernel which leaves its array, or uses it too late, can be told what
// it hit.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

#include "common/simt/byte_set.h"

namespace simt {

enum class Memory : uint8_t {
  kDevice,
  kManaged,
  kPinned,  // of the host, page-locked
  kVariable,
  kManagedVariable
};

struct Allocation {
  uint64_t begin = 0, end = 0;  // end is one past the last byte asked for
  Memory memory = Memory::kDevice;
  bool freed = false;
  uint64_t number = 0;         // 1 for the first of the program
  const char* name = nullptr;  // "cudaMalloc", or the variable's name

  uint64_t bytes() const { return end - begin; }
  bool contains(uint64_t address) const {
    return address >= begin && address < end;
  }
  bool is_variable() const {
    return memory == Memory::kVariable || memory == Memory::kManagedVariable;
  }
  bool is_managed() const {
    return memory == Memory::kManaged || memory == Memory::kManagedVariable;
  }
  bool is_device_only() const {
    return memory == Memory::kDevice || memory == Memory::kVariable;
  }
};

class Allocations {
 public:
  explicit Allocations(uint64_t device_bytes);
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // An address aligned to 256 bytes, or 0 when the device or the machine has
  // no more. `name` must outlive the program's last message.
  uint64_t allocate(uint64_t bytes, Memory memory, const char* name);

  // False if no live allocation begins at `address`.
  bool release(uint64_t address);

  // The variable at `begin` is __managed__: the host uses it too.
  void make_managed(uint64_t begin);

  // Memory of the host program that kernels may touch as well.
  bool adopt(uint64_t begin, uint64_t bytes, const char* name);
  bool disown(uint64_t begin);

  // The allocation around `address`, live or freed. Any thread may ask.
  std::optional<Allocation> find(uint64_t address) const;

  // Changes whenever an answer of find() may have become stale.
  uint64_t version() const { return version_; }

  // Whether `address` is device memory's, allocated or not.
  bool in_arena(uint64_t address) const {
    return address >= arena_begin_ && address < arena_end_;
  }
  uint64_t arena_begin() const { return arena_begin_; }

  // The bytes of the arena that somebody has written, by their offset in it;
  // memory that the host may write unseen counts as written. For the checker:
  // nothing is kept if SIMT_CHECKS is off.
  ByteSet& written() { return written_; }
  void note_written(uint64_t begin, uint64_t bytes);
  void note_copied(uint64_t to, uint64_t from, uint64_t bytes);

  // What `address` is, for people: "byte 40 of the 400-byte array from
  // cudaMalloc (allocation 3)", "4 bytes behind the end of ...".
  std::string describe(uint64_t address) const;

  uint64_t device_bytes_in_use() const;
  uint64_t device_bytes() const { return device_bytes_; }

 private:
  struct Block : Allocation {
    uint64_t reserved_end = 0;  // end of its red zone
    bool adopted = false;
  };

  uint64_t take(uint64_t bytes);
  void give_back(uint64_t begin, uint64_t end);
  void quarantine(Block& block);
  const Block* at(uint64_t address) const;
  std::string describe_gap(uint64_t address) const;

  const uint64_t device_bytes_;
  uint64_t arena_begin_ = 0, arena_end_ = 0;
  bool checks_ = false;
  ByteSet written_;
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Block> blocks_;    // by begin, live and quarantined
  std::map<uint64_t, uint64_t> holes_;  // begin -> end, never adjacent
  std::deque<uint64_t> quarantined_;    // begins, oldest first
  uint64_t quarantined_bytes_ = 0;
  uint64_t in_use_ = 0;
  uint64_t count_ = 0;
  std::atomic<uint64_t> version_{0};
};

// The one of this process; never destroyed, for destructors that run late.
Allocations& allocations();

}  // namespace simt
