// Keeps each number once.
#include "common/simt/decode/fixed_values.h"

#include <cstring>

#include "common/simt/core/error.h"
#include "common/simt/core/warp.h"

namespace simt {

Place FixedValues::constant(uint64_t value, int bytes) {
  const auto [it, fresh] = constants_.try_emplace({value, bytes}, 0);
  if (fresh) it->second = add(bytes, value);
  if (value == 0) program_.zeros.insert(it->second);
  return it->second;
}

Place FixedValues::add(int bytes, uint64_t value) {
  if (bytes > 8) throw Error("an immediate of more than 8 bytes");
  Program::Fixed& lanes = program_.fixed.emplace_back();
  for (int l = 0; l < kLanes; ++l)
    std::memcpy(reinterpret_cast<char*>(&lanes) + l * bytes, &value, bytes);
  return Program::place_of(program_.fixed.size() - 1);
}

Place FixedValues::special(Special wanted) {
  for (const auto& [special, place] : program_.specials)
    if (special == wanted) return place;
  return program_.specials.emplace_back(wanted, add(8)).second;
}

// Not among the other numbers: in a cluster each block has another.
Place FixedValues::shared_address(int64_t offset, int bytes, int array) {
  for (const Program::Address& a : program_.static_shared_at)
    if (a.offset == offset && a.bytes == bytes && a.array == array) return a.at;
  const Place at = add(bytes, offset);
  program_.static_shared_at.push_back(
      {at, offset, static_cast<uint8_t>(bytes), array});
  return at;
}

Place FixedValues::dynamic_address(int64_t offset, int bytes, int array) {
  const Place at = add(bytes);
  program_.dynamic_shared.push_back(
      {at, offset, static_cast<uint8_t>(bytes), array});
  return at;
}

Place FixedValues::reserved_address(uint32_t offset) {
  constexpr uint8_t kBytes = 4;
  const Place at = add(kBytes);
  program_.reserved_shared.push_back({at, offset, kBytes});
  return at;
}

Place FixedValues::parameter(uint32_t offset, Type type, uint8_t bytes) {
  for (const Program::Parameter& p : program_.parameters)
    if (p.offset == offset && p.bytes == type.bytes &&
        p.register_bytes == bytes && p.is_signed == type.is_signed())
      return p.at;
  const Place at = add(bytes);
  program_.parameters.push_back(
      {at, offset, type.bytes, bytes, type.is_signed()});
  return at;
}

}  // namespace simt
