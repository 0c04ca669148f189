// Sums of two floats, by name.
#include "tests/any_strided/family.h"

using namespace strided;

std::vector<by_name::Member> by_name::sums() {
  return {
      member<Add<float>>("add float"),
  };
}
