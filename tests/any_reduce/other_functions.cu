// Norms, any and all, and the extremes of other types, by name.
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
std::vector<by_name::Member> by_name::other_extremes() {
  return {
      member<Max<__half>>("max half"),
      member<Min<int8_t>>("min int8"),
      member<Max<int64_t>>("max int64"),
      member<ArgMax<__nv_bfloat16>>("argmax bfloat16"),
      member<ArgMin<int32_t>>("argmin int32"),
  };
}
