// Norms, any and all, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::norms() {
  return {
      member<Norm0<float>>("norm0 float"),
      member<Norm1<float>>("norm1 float"),
      member<Norm2<float>>("norm2 float"),
      member<Norm2<__half, __half>>("norm2 half"),
      member<NormP<float>>("normp float"),
      member<NormInf<float>>("norminf float"),
      member<Any<float>>("any float"),
      member<Any<int8_t>>("any int8"),
      member<All<float>>("all float"),
      member<All<int16_t>>("all int16"),
  };
}
