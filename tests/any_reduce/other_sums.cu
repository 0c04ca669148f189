// Other sums, means and products, by name.
#include "tests/any_reduce/family.h"

using namespace reduction;

std::vector<by_name::Member> by_name::other_sums() {
  return {
      member<Sum<double>>("sum double"),
      member<Sum<__half, __half>>("sum half"),
      member<Sum<__half>>("sum half to float"),
      member<Sum<__nv_bfloat16, __nv_bfloat16>>("sum bfloat16"),
      member<Mean<__half, __half>>("mean half"),
  };
}
std::vector<by_name::Member> by_name::means() {
  return {
      member<Mean<float>>("mean float"),
      member<Product<float>>("prod float"),
  };
}
std::vector<by_name::Member> by_name::whole_sums() {
  return {
      member<Sum<int8_t>>("sum int8"),        member<Sum<int16_t>>("sum int16"),
      member<Sum<int32_t>>("sum int32"),      member<Sum<int64_t>>("sum int64"),
      member<Product<int32_t>>("prod int32"), member<Mean<int8_t>>("mean int8"),
  };
}
