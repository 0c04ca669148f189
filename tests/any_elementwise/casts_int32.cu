// Casts of int32 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_int32() {
  return casts<int32_t>("int32");
}
