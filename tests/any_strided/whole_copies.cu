// Copies of single bytes, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::whole_copies() {
  return {
      member<Copy<bool>>("copy bool"),
      member<Copy<uint8_t>>("copy uint8"),
      member<Copy<int8_t>>("copy int8"),
  };
}
