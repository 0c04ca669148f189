// One memory instruction of a warp, with the places its lanes mean: what
// memory.cpp carries out and the observers look at.
#pragma once
#include <cstdint>

#include "common/simt/core/warp.h"

namespace simt {

enum class Use : uint8_t { kLoad, kStore, kAtomic };

inline const char* verb(Use use) {
  return use == Use::kLoad ? "read" : use == Use::kStore ? "write" : "atomic";
}

// Is all of [address, address + bytes) in [begin, end)? No sum wraps around.
inline bool is_inside(uint64_t address, uint64_t bytes, uint64_t begin,
                      uint64_t end) {
  return address >= begin && address <= end && bytes <= end - address;
}

struct Access {
  Access(const Address& operand, uint32_t bytes, Use use)
      : operand(operand), bytes(bytes), use(use) {}

  const Address& operand;  // of the instruction: where it goes
  const uint32_t bytes;    // a lane's
  const Use use;
  uint64_t address[kLanes];  // in its space; of lanes in `mask`
  uint8_t* base = nullptr;   // address 0 of the space, in the host's memory
  uint32_t mask = 0;
  Space space = Space::kGlobal;
  bool dense = false;  // all 32 lanes, one behind the other from address[0]

  template <class T>
  T* at(int lane) const {
    return reinterpret_cast<T*>(base + address[lane]);
  }
};

}  // namespace simt
