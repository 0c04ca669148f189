// Casts of bool to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_bool() {
  return casts<bool>("bool");
}
