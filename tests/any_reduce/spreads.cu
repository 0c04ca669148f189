// The variance and the standard deviation, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::spreads() {
  return {
      member<Var<float>>("var float"),
      member<Std<float>>("std float"),
  };
}
std::vector<by_name::Member> by_name::other_spreads() {
  return {
      member<Var<double>>("var double"),
      member<Var<__half, __half>>("var half"),
      member<Var<int32_t>>("var int32"),
  };
}
