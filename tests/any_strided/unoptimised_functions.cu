// Functions of one argument, of three, with a scalar, with two results, by
// name.
#include "tests/any_strided/family.h"

using namespace strided;

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
