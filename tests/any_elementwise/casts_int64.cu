// Casts of int64 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_int64() {
  return casts<int64_t>("int64");
}
