// Copies of 16 bits, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::narrow_copies() {
  return {
      member<Copy<__half>>("copy half"),
      member<Copy<__nv_bfloat16>>("copy bfloat16"),
      member<Copy<int16_t>>("copy int16"),
  };
}
