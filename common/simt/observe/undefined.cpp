// Keeps which bits of registers, stacks and copies are undefined.
#include "common/simt/observe/undefined.h"

#include <algorithm>

namespace simt {

namespace {

auto find_place(auto& registers, Place place) {
  return std::ranges::find_if(
      registers, [&](const auto& one) { return one->place == place; });
}

}  // namespace

const Undefined* UndefinedRegisters::find(Place place) const {
  const auto known = find_place(registers_, place);
  return known == registers_.end() ? nullptr : known->get();
}

void UndefinedRegisters::set(const Undefined& value) {
  if (value.lanes == 0) return;
  const auto known = find_place(registers_, value.place);
  if (known == registers_.end()) return add(value);
  Undefined& mine = **known;
  mine.lanes |= value.lanes;
  for (uint32_t rest = value.lanes; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    mine.bits[l] = value.bits[l];
    mine.origin[l] = value.origin[l];
  }
}

void UndefinedRegisters::add(const Undefined& value) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Undefined>());
  registers_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  *registers_.back() = value;
}

void UndefinedRegisters::define(Place place, uint32_t lanes) {
  const auto known = find_place(registers_, place);
  if (known == registers_.end() || ((*known)->lanes &= ~lanes) != 0) return;
  spare_.push_back(std::move(*known));
  registers_.erase(known);
}

const Copied* Copies::find(uint64_t address) const {
  const auto word = words_.find(address / kWord);
  if (word == words_.end()) return nullptr;
  const Copied& byte = word->second[address % kWord];
  return byte.bits ? &byte : nullptr;
}

void Copies::erase(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at += kWord) words_.erase(at / kWord);
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
