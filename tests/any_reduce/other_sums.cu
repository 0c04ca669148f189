// Sums and means of other fractions, by name.
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
