// The casts of one type to all twelve, by name.
#pragma once

#include <string>

#include "tests/any_elementwise/family.h"

namespace by_name {

template <class To, class From>
Member cast(const std::string& from, const std::string& to) {
  return member<elementwise::Cast<To, From>, To, From>("cast " + from + " to " +
                                                       to);
}

template <class From>
std::vector<Member> casts(const std::string& from) {
  return {
      cast<bool, From>(from, "bool"),
      cast<int8_t, From>(from, "int8"),
      cast<int16_t, From>(from, "int16"),
      cast<int32_t, From>(from, "int32"),
      cast<int64_t, From>(from, "int64"),
      cast<uint8_t, From>(from, "uint8"),
      cast<uint16_t, From>(from, "uint16"),
      cast<uint32_t, From>(from, "uint32"),
      cast<__half, From>(from, "half"),
      cast<__nv_bfloat16, From>(from, "bfloat16"),
      cast<float, From>(from, "float"),
      cast<double, From>(from, "double"),
  };
}

}  // namespace by_name
