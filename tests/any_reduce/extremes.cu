// The least and the greatest float, and where it is, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::extremes() {
  return {
      member<Min<float>>("min float"),
      member<Max<float>>("max float"),
  };
}
std::vector<by_name::Member> by_name::arg_extremes() {
  return {
      member<ArgMin<float>>("argmin float"),
      member<ArgMax<float>>("argmax float"),
  };
}
