// The variance and the standard deviation of floats, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::spreads() {
  return {
      member<Var<float>>("var float"),
      member<Std<float>>("std float"),
  };
}
