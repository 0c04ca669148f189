// Copies, by name.
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
std::vector<by_name::Member> by_name::narrow_copies() {
  return {
      member<Copy<__half>>("copy half"),
      member<Copy<__nv_bfloat16>>("copy bfloat16"),
      member<Copy<int16_t>>("copy int16"),
  };
}
std::vector<by_name::Member> by_name::whole_copies() {
  return {
      member<Copy<bool>>("copy bool"),
      member<Copy<uint8_t>>("copy uint8"),
      member<Copy<int8_t>>("copy int8"),
  };
}
