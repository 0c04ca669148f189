// Sums of two other numbers, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::other_sums() {
  return {
      member<Add<__half>>("add half"),
      member<Add<__nv_bfloat16>>("add bfloat16"),
      member<Add<int32_t>>("add int32"),
  };
}
