// Casts of half to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_half() {
  return casts<__half>("half");
}
