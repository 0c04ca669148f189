// Keeps which bits of registers, stacks and copies are undefined.
#include "common/simt/observe/undefined.h"

#include <algorithm>

namespace simt {

const Undefined* UndefinedRegisters::find(Place place) const {
  for (const auto& one : registers_)
    if (one->place == place) return one.get();
  return nullptr;
}

void UndefinedRegisters::set(const Undefined& value) {
  if (value.lanes == 0) return;
  const auto known =
      std::find_if(registers_.begin(), registers_.end(),
                   [&](const auto& one) { return one->place == value.place; });
  if (known == registers_.end())
    return void(registers_.push_back(std::make_unique<Undefined>(value)));
  Undefined& mine = **known;
  mine.lanes |= value.lanes;
  for (uint32_t rest = value.lanes; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    mine.bits[l] = value.bits[l];
    mine.origin[l] = value.origin[l];
  }
}

void UndefinedRegisters::define(Place place, uint32_t lanes) {
  std::erase_if(registers_, [&](const auto& one) {
    return one->place == place && (one->lanes &= ~lanes) == 0;
  });
}

void WarpValues::start() {
  calls.clear();
  in_flight.clear();
  exchanged.lanes = unsure = 0;
  stack_copies.clear();
  std::fill(stack_bits.begin(), stack_bits.end(), 0);
}

void WarpValues::grow(size_t stack_bytes) {
  if (stack_bits.size() >= stack_bytes / 64 + 1) return;
  stack_bits.resize(stack_bytes / 64 + 1);
  stack = ByteSet(stack_bits.data());
}

}  // namespace simt
