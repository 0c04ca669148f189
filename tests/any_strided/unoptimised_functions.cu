// Functions of one argument, of three, with a scalar, with two results, and
// sums of other numbers, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::other_sums() {
  return {
      member<Add<__half>>("add half"),
      member<Add<__nv_bfloat16>>("add bfloat16"),
      member<Add<int32_t>>("add int32"),
  };
}
std::vector<by_name::Member> by_name::others() {
  return {
      member<Rectify<float>>("relu float"),
      member<Rectify<__half>>("relu half"),
      member<AddProduct<float>>("addcmul float"),
      member<Less<float>>("less float"),
      member<WithScalar<Add<__half>, __half>>("add scalar half"),
      member<SumAndDifference<float>>("sum and difference float"),
  };
}
