// Casts of uint8 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_uint8() {
  return casts<uint8_t>("uint8");
}
