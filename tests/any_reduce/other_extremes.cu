// The least and the greatest of other types, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::other_extremes() {
  return {
      member<Max<__half>>("max half"),
      member<Min<int8_t>>("min int8"),
      member<Max<int64_t>>("max int64"),
      member<ArgMax<__nv_bfloat16>>("argmax bfloat16"),
      member<ArgMin<int32_t>>("argmin int32"),
  };
}
