// The sum of floats, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::sums() {
  return {
      member<Sum<float>>("sum float"),
  };
}
