// One lane's part in a call that the system answers.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/observers.h"

namespace simt {

// A lane's view of memory, for the arguments of a call.
class Lane {
 public:
  Lane(Warp& warp, const Instruction& ins, int lane)
      : warp_(warp), ins_(ins), lane_(lane) {}

  template <class T>
  T argument(size_t k, uint32_t offset = 0) const {
    return read<T>(kLocalWindow |
                   (warp_.stack_base + ins_.call->arguments.at(k) + offset));
  }

  template <class T>
  void result(T value) const {
    if (ins_.call->results.empty()) return;
    const uint32_t at = warp_.stack_base + ins_.call->results[0];
    std::memcpy(warp_.stack(lane_, at), &value, sizeof value);
    observe::system_write(warp_, lane_, at, sizeof value);
  }

  // A conversion that the host's printf knows, and the device's does not.
  void note_unknown(const std::string& conversion) const {
    observe::unknown_conversion(warp_, ins_, lane_, conversion);
  }

  // What printf takes there is none of the arguments that it was given, if it
  // lies in no function's variables.
  void check_given(uint64_t address, uint32_t bytes) const {
    if (address == 0)  // Of no arguments nvcc makes no list.
      why_ = ": printf was given no argument for its conversion";
    if ((address & kWindowMask) != kLocalWindow) return;
    const uint64_t at = address & ~kWindowMask;
    for (auto* one = warp_.variables; one; one = one->caller)
      if (is_inside(at, bytes, one->begin, one->end)) return;
    observe::not_given(warp_, ins_, lane_, at, bytes);
  }

  // At a generic address.
  template <class T>
  T read(uint64_t address) const {
    address = warp_.block->within(address);
    const T value = fetch<T>(address);
    observe::system_read(warp_, ins_, lane_, address, sizeof value);
    return value;
  }
  template <class T>
  void write(uint64_t address, const T& value) const {
    address = warp_.block->within(address);
    const uint64_t offset = address & ~kWindowMask;
    switch (address & kWindowMask) {
      case kLocalWindow:
        require_inside(address, sizeof(T), warp_.stack_end, "writes");
        to_stack(offset, value);
        for (uint64_t k = 0; k < sizeof(T); k += 4)  // They lie in pieces.
          observe::system_write(warp_, lane_, offset + k,
                                std::min<uint64_t>(sizeof(T) - k, 4));
        return;
      case kSharedWindow:
        require_inside(address, sizeof(T), warp_.block->shared.size(),
                       "writes");
        std::memcpy(warp_.block->shared.data() + offset, &value, sizeof(T));
        observe::system_write_shared(*warp_.block, offset, sizeof(T));
        return;
      default:
        require_allocated(address, sizeof(T), "writes");
        std::memcpy(allocations().open(address), &value, sizeof(T));
        allocations().note_written(address, sizeof(T));
    }
  }

  // `why`: what to say, too, if it is none.
  std::string text(uint64_t address, const char* why = "") const {
    why_ = why;
    std::string s;
    for (char c; (c = read<char>(address)); ++address) s += c;
    why_ = "";
    return s;
  }

 private:
  template <class T>
  T fetch(uint64_t address) const {
    const uint64_t offset = address & ~kWindowMask;
    switch (address & kWindowMask) {
      case kLocalWindow:
        require_inside(address, sizeof(T), warp_.stack_end);
        return from_stack<T>(offset);
      case kSharedWindow:
        require_inside(address, sizeof(T), warp_.block->shared.size());
        return value_at<T>(warp_.block->shared.data() + offset);
      case kParamWindow:
        require_inside(address, sizeof(T), parameters().size());
        return value_at<T>(parameters().data() + offset);
      default:
        require_allocated(address, sizeof(T));
        return value_at<T>(allocations().look_at(address));
    }
  }

  AlignedBytes& parameters() const { return warp_.block->grid->parameters; }

  void require_inside(uint64_t address, uint64_t bytes, uint64_t size,
                      const char* does = "reads") const {
    const uint64_t offset = address & ~kWindowMask;
    if (is_inside(offset, bytes, 0, size)) return;
    const std::string where = allocations().describe(address);
    if (offset >> 32) refuse("out of bounds", does, where);
    refuse("out of bounds", does,
           where + ", byte " + std::to_string(offset) + " of " +
               std::to_string(size));
  }

  void require_allocated(uint64_t address, uint64_t bytes,
                         const char* does = "reads") const {
    if (is_inside(address, bytes, known_.begin, known_.end)) return;
    const auto found = allocations().find(address);
    if (!found || !is_inside(address, bytes, found->begin, found->end))
      refuse("out of bounds", does, allocations().describe(address));
    if (found->freed)
      refuse("use after free", does, allocations().describe(address));
    known_ = *found;
  }

  [[noreturn]] void refuse(const char* kind, const std::string& does,
                           const std::string& what) const {
    fault(warp_, ins_, lane_, kind, "a call " + does + " " + what + why_,
          kIllegalAddress);
  }

  template <class T>
  static T value_at(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  template <class T>
  T from_stack(uint64_t offset) const {
    uint8_t bytes[sizeof(T)];
    for (size_t k = 0; k < sizeof(T); ++k)
      bytes[k] = *warp_.stack(lane_, offset + k);
    return value_at<T>(bytes);
  }

  template <class T>
  void to_stack(uint64_t offset, const T& value) const {
    uint8_t bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof value);
    for (size_t k = 0; k < sizeof(T); ++k)
      *warp_.stack(lane_, offset + k) = bytes[k];
  }

  Warp& warp_;
  const Instruction& ins_;
  const int lane_;
  mutable Allocation known_;  // read last
  mutable const char* why_ = "";
};

}  // namespace simt
