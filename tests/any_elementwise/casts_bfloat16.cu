// Casts of bfloat16 to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_bfloat16() {
  return casts<__nv_bfloat16>("bfloat16");
}
