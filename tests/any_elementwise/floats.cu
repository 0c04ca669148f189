// Functions of floats, by name.
#include "tests/any_elementwise/family.h"

using namespace elementwise;

std::vector<by_name::Member> by_name::floats() {
  return {
      member<Relu<float>, float, float>("relu float"),
      member<Scale<float>, float, float>("scale float"),
      member<ScaleBy<float>, float, float>("scale_by float"),
      member<Add<float>, float, float, float>("add float"),
      member<MultiplyAdd<float>, float, float, float, float>("fma float"),
      member<GeluExact<float>, float, float>("gelu_exact float"),
      member<GeluTanh<float>, float, float>("gelu_tanh float"),
      member<GeluQuick<float>, float, float>("gelu_quick float"),
      member<GeluMul<float>, float, float, float>("gelu_mul float"),
      member<GeluMulGradient<float>, Two<float, float>, float, float, float>(
          "gelu_mul_gradient float"),
  };
}
