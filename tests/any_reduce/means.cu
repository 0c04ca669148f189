// The mean and the product of floats, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::means() {
  return {
      member<Mean<float>>("mean float"),
      member<Product<float>>("prod float"),
  };
}
