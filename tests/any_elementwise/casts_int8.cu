// Casts of int8 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_int8() {
  return casts<int8_t>("int8");
}
