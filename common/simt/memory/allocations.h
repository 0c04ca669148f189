// Device memory: every range a kernel may touch, and what surrounds it.
//
// All of it lies in one arena of reserved addresses, at the same place in every
// run, so that printed pointers, alignment and counters repeat. The arena costs
// nothing until it is touched. It is mapped twice: at the addresses that the
// program sees it is closed to host code, whose mistakes would work here and
// crash on a GPU, and open where the executor uses it. Each array is followed
// by a red zone that belongs to nobody, and a freed one is not handed out again
// for a while, so that a kernel which leaves its array, or uses it too late,
// can be told what it hit.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "common/simt/core/settings.h"
#include "common/simt/memory/written_bytes.h"

namespace simt {

enum class Memory : uint8_t {
  kDevice,
  kHeap,      // a kernel's own malloc
  kPool,      // cudaMallocAsync's
  kPhysical,  // cuMemCreate's, which are reached where they are mapped
  kManaged,
  kPinned,  // of the host, page-locked
  kVariable,
  kConstant,  // a variable, too
  kManagedVariable
};

struct Allocation {
  uint64_t begin = 0, end = 0;  // end is one past the last byte asked for
  Memory memory = Memory::kDevice;
  bool freed = false;
  bool kept = false;           // a graph's: it will be there again
  bool adopted = false;        // the host program's own memory
  bool mapped = false;         // shows what another allocation holds
  bool read_only = false;      // for kernels, copies and fills
  int device = 0;              // whose it is; the host's: current then
  uint64_t number = 0;         // 1 for the first of the program
  uint64_t pool = 0;           // that it is from, if it is any's
  const char* name = nullptr;  // "cudaMalloc", or the variable's name

  uint64_t bytes() const { return end - begin; }
  bool contains(uint64_t address) const {
    return address >= begin && address < end;
  }
  bool is_variable() const {
    return memory == Memory::kVariable || memory == Memory::kConstant ||
           memory == Memory::kManagedVariable;
  }
  bool is_managed() const {
    return memory == Memory::kManaged || memory == Memory::kManagedVariable;
  }
  bool is_from_api() const { return !is_variable() && !adopted && !mapped; }
  // A device's memory, and no variable.
  bool is_plain() const {
    return memory == Memory::kDevice || memory == Memory::kHeap ||
           memory == Memory::kPool || memory == Memory::kPhysical;
  }
  bool is_device_only() const {
    return is_plain() || memory == Memory::kVariable ||
           memory == Memory::kConstant;
  }
};

class Allocations {
 public:
  explicit Allocations(uint64_t device_bytes);
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // An address aligned to 256 bytes, or 0 when the device or the machine has
  // no more. `name` must outlive the program's last message.
  uint64_t allocate(uint64_t bytes, Memory memory, const char* name, int device,
                    uint64_t pool = 0);

  // The most that the kernels' own malloc gives on a device before something
  // is freed.
  void limit_heap(int device, uint64_t bytes) {
    of_[device].heap_limit = bytes;
  }

  // The heap's size, if a kernel has asked for more than was left; 0: never.
  uint64_t exhausted_heap(int device) const {
    const OfDevice& of = of_[device];
    return of.heap_was_full ? of.heap_limit.load() : 0;
  }

  // False if no live allocation begins at `address`.
  bool release(uint64_t address);

  // A graph's allocation, from now on: nobody has it until occupy(), and nobody
  // else gets its place, however often it is released.
  void keep(uint64_t address);
  // False if somebody has it already, or there is no room.
  bool occupy(uint64_t address);
  // No graph has it any more.
  void abandon(uint64_t address);

  // Virtual memory: addresses for as long as nobody gives them back, a multiple
  // of `unit`, 0 if there are no more; they show what lies at others, or no
  // longer (false where there is no file of device memory); and what of them
  // may be touched, which is one allocation where it hangs together.
  uint64_t reserve(uint64_t bytes, uint64_t unit);
  void unreserve(uint64_t begin, uint64_t bytes, uint64_t unit);
  bool show(uint64_t at, uint64_t shown, uint64_t bytes);
  void set_mapped(uint64_t begin, uint64_t end, std::vector<Allocation> parts);

  // Everything the program got on a device, as if it freed it. Variables stay.
  void release_all(int device);

  // The variable at `begin` is __managed__: the host uses it too.
  void make_managed(uint64_t begin);

  // Whether all of it is memory of the host program.
  bool is_host_memory(uint64_t begin, uint64_t bytes) const;

  // Lets kernels touch host memory as well. False if they may already.
  bool adopt(uint64_t begin, uint64_t bytes, const char* name, int device);
  bool disown(uint64_t begin);

  // From now on nothing may write to the array around `address`.
  void make_read_only(uint64_t address);

  // The allocation around `address`, live or freed. Any thread may ask.
  std::optional<Allocation> find(uint64_t address) const;

  // Changes whenever an answer of find() may have become stale. Asked for each
  // access: so there is one for all, which is found at once.
  static uint64_t version() { return version_.load(std::memory_order_acquire); }

  // Whether `address` is device memory's, allocated or not.
  bool in_arena(uint64_t address) const {
    return address >= arena_begin_ && address < arena_end_;
  }
  uint64_t arena_begin() const { return arena_begin_; }

  // The bytes of the arena that somebody has written, by their offset in it;
  // memory that the host may write unseen counts as written. For the checker:
  // a launch without one drops what is known, and when the next one with a
  // checker begins, all that is there counts as written.
  WrittenBytes& written() { return written_; }
  void keep_written();
  void drop_written() { checks_ = false; }
  void note_written(uint64_t begin, uint64_t bytes);
  void note_copied(uint64_t to, uint64_t from, uint64_t bytes);
  // Whether that is known of all of it, or nothing is kept.
  bool is_written(uint64_t begin, uint64_t bytes) const;
  // The first so many addresses, or more, of which that is not known.
  std::optional<WrittenBytes::Gap> unwritten(uint64_t begin, uint64_t bytes,
                                             uint64_t least) const;

  // From an address to the same byte as the executor sees it; 0 outside the
  // arena.
  uint64_t distance(uint64_t address) const {
    return in_arena(address) ? distance_ : 0;
  }
  void* open(uint64_t address) const {
    changes_.fetch_add(1, std::memory_order_relaxed);
    return reinterpret_cast<void*>(address + distance(address));
  }
  // The same for who will not write there.
  const void* look_at(uint64_t address) const {
    return reinterpret_cast<const void*>(address + distance(address));
  }
  // Changes whenever anybody but a kernel may have changed device memory, if
  // host code cannot do it without asking.
  uint64_t changes() const { return changes_ + version_; }
  bool is_closed_to_host() const { return distance_ != 0; }

  // What `address` is, for people: "byte 40 of the 400-byte array from
  // cudaMalloc (allocation 3)", "4 bytes past the end of ...".
  std::string describe(uint64_t address) const;

  uint64_t newest() const;  // the number of the last one
  // Whether the program has ever got memory that the host may touch as well.
  bool host_has_some() const { return host_has_some_; }

  // What the program got and has not freed, in order.
  std::vector<Allocation> unfreed() const;

  uint64_t device_bytes_in_use(int device) const;
  uint64_t device_bytes() const { return device_bytes_; }  // of each

 private:
  struct Block : Allocation {
    uint64_t reserved_end = 0;  // end of its red zone
  };

  uint64_t take(uint64_t bytes, uint64_t alignment);
  bool let_host_in(uint64_t begin, uint64_t end, bool in);
  void poison(uint64_t begin, uint64_t end);
  void drop_pages(uint64_t begin, uint64_t end);
  void give_back(uint64_t begin, uint64_t end);
  void quarantine(Block& block);
  void retire(Block& block);
  const Block* at(uint64_t address) const;
  std::string describe_gap(uint64_t address) const;

  const uint64_t device_bytes_;
  uint64_t arena_begin_ = 0, arena_end_ = 0;
  std::atomic<bool> checks_ = false;
  WrittenBytes written_;
  int file_ = -1;          // what is mapped; none: nobody's
  uint64_t distance_ = 0;  // to the executor's mapping; 0: there is only one
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Block> blocks_;    // by begin, live and quarantined
  std::map<uint64_t, uint64_t> holes_;  // begin -> end, never adjacent
  std::deque<uint64_t> quarantined_;    // begins, oldest first
  uint64_t quarantined_bytes_ = 0;
  struct OfDevice {
    uint64_t in_use = 0, heap_in_use = 0;
    std::atomic<uint64_t> heap_limit{8 << 20};  // what CUDA begins with
    std::atomic<bool> heap_was_full{false};
  };
  std::array<OfDevice, settings::kMostDevices> of_;
  uint64_t count_ = 0;
  std::atomic<bool> host_has_some_{false};
  mutable std::atomic<uint64_t> changes_{0};
  inline static std::atomic<uint64_t> version_{0};
};

// "the 400-byte array from cudaMalloc (allocation 3)"
std::string name_of(const Allocation& allocation);

// The one of this process; never destroyed, for destructors that run late.
Allocations& allocations();

}  // namespace simt
