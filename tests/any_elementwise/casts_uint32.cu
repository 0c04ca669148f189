// Casts of uint32 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_uint32() {
  return casts<uint32_t>("uint32");
}
