// The least and the greatest, and where they are, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::extremes() {
  return {
      member<Min<float>>("min float"),
      member<Max<float>>("max float"),
      member<Max<__half>>("max half"),
      member<Min<int8_t>>("min int8"),
      member<Max<int64_t>>("max int64"),
      member<ArgMin<float>>("argmin float"),
      member<ArgMax<float>>("argmax float"),
      member<ArgMax<__nv_bfloat16>>("argmax bfloat16"),
      member<ArgMin<int32_t>>("argmin int32"),
  };
}
