// Casts of int16 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_int16() {
  return casts<int16_t>("int16");
}
