// Copies of large elements, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::copies() {
  return {
      member<Copy<float>>("copy float"),
      member<Copy<double>>("copy double"),
      member<Copy<int64_t>>("copy int64"),
      member<Copy<int32_t>>("copy int32"),
  };
}
