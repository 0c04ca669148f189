// Casts of uint16 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_uint16() {
  return casts<uint16_t>("uint16");
}
