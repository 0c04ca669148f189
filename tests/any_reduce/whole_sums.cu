// Sums, means and products of whole numbers, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::whole_sums() {
  return {
      member<Sum<int8_t>>("sum int8"),        member<Sum<int16_t>>("sum int16"),
      member<Sum<int32_t>>("sum int32"),      member<Sum<int64_t>>("sum int64"),
      member<Product<int32_t>>("prod int32"), member<Mean<int8_t>>("mean int8"),
  };
}
