// What one piece of a stream's work touched in global memory, by its
// instructions: so that work which may run at the same time can be compared.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/grid.h"
#include "common/simt/memory/sector_set.h"
#include "common/simt/memory/touched_bytes.h"

namespace simt {

// A store that always stored the same: that number, repeated to eight bytes.
struct StoredValue {
  enum class State : uint8_t { kNone, kOne, kMany } state = State::kNone;
  uint64_t pattern = 0;

  void add(uint64_t value, uint32_t bytes);
  void add(const StoredValue& other);
  bool equals(const StoredValue& other) const {
    return state == State::kOne && other.state == State::kOne &&
           pattern == other.pattern;
  }
};

// All that one instruction, or one call, did to memory.
struct Touched {
  Use use = Use::kLoad;
  bool weak = true;  // neither atomic nor volatile: races with all others
  bool without_host = true;  // weak for the host, at least
  bool tests = false;  // a load that only decides, or a store that it guards
  bool early = false;  // by threads that had not waited for the kernel in front
  std::string file;    // empty: no instruction did it, or nobody knows which
  uint32_t line = 0;
  const char* verb = nullptr;  // null: that of its use
  TouchedBytes bytes;
  StoredValue value;
};
using Footprint = std::vector<Touched>;

// atomicAdd and its kin are atomic for the device alone: the host has to wait.
// Whoever talks with it takes a volatile access or atomicAdd_system.
bool is_without_host(const Instruction& ins);
Footprint copy_of(const Footprint& footprint);

// One host thread's part of it, while a kernel runs.
class Trails {
 public:
  explicit Trails(const Grid& grid) : grid_(grid) {}

  void note(const Warp& warp, const Instruction& ins, const Access& access,
            uint32_t mask, bool early = false);
  // What an asynchronous copy reads or writes: no register tells the values.
  void note_copy(const Instruction& ins, const Access& access, bool early);
  // Where it goes, but not what it stores.
  void note_place(const Instruction& ins, const Access& access, uint32_t mask);
  // A load that is not looked at otherwise: the sectors that it touches.
  void note_load(const Access& access, uint32_t mask);
  void note_loads(uint64_t begin, uint64_t end) { loaded_.insert(begin, end); }
  bool has_loaded(const Access& access) const;  // the first of its bytes
  // Whether others stored to what was not looked at: to what was loaded, or
  // what an atomic changed that commutes.
  bool has_missed(Trails& of);
  TouchedBytes loaded() const;
  void add(Trails& other);
  // Whether one of them writes what the other touches.
  bool meets(Trails& other);
  Footprint footprint();

 private:
  // Most instructions go on where they were: such a run is kept apart.
  struct Trail {
    uint64_t begin = 0, end = 0;
    const Instruction* ins = nullptr;
    Use use = Use::kLoad;
    bool early = false;
    TouchedBytes bytes;
    StoredValue value;

    void extend(uint64_t from, uint64_t to) {
      if (from == end) {
        end = to;
      } else if (from < begin || to > end) {
        bytes.insert(begin, end);
        begin = from;
        end = to;
      }
    }
  };
  void settle();  // All that it knows is in its trails' bytes.
  Trail& trail_of(const Instruction& ins, const Access& access,
                  bool early = false);
  static void extend(Trail& trail, const Access& access, uint32_t mask);
  void note_value(Trail& trail, const Warp& warp, const Access& access,
                  uint32_t mask) const;
  bool is_test(const Instruction& ins) const;
  // Whether they tell in which order they were, where they touch the same.
  static bool depend(const Trail& one, const Trail& other);

  const Grid& grid_;
  // Null: it went nowhere. Those that went early come behind all others.
  std::vector<std::unique_ptr<Trail>> by_site_;
  SectorSet loaded_;
};

}  // namespace simt
