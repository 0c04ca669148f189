// Functions of halves and of bfloat16s, by name.
#include "tests/any_elementwise/family.h"

using namespace elementwise;
using Brain = __nv_bfloat16;

std::vector<by_name::Member> by_name::halves() {
  return {
      member<Relu<__half>, __half, __half>("relu half"),
      member<Scale<__half>, __half, __half>("scale half"),
      member<Add<__half>, __half, __half, __half>("add half"),
      member<MultiplyAdd<__half>, __half, __half, __half, __half>("fma half"),
      member<GeluExact<__half>, __half, __half>("gelu_exact half"),
      member<GeluTanh<__half>, __half, __half>("gelu_tanh half"),
      member<GeluQuick<__half>, __half, __half>("gelu_quick half"),
      member<GeluMul<__half>, __half, __half, __half>("gelu_mul half"),
      member<GeluMulGradient<__half>, Two<__half, __half>, __half, __half,
             __half>("gelu_mul_gradient half"),
  };
}
std::vector<by_name::Member> by_name::brains() {
  return {
      member<Relu<Brain>, Brain, Brain>("relu bfloat16"),
      member<Add<Brain>, Brain, Brain, Brain>("add bfloat16"),
      member<MultiplyAdd<Brain>, Brain, Brain, Brain, Brain>("fma bfloat16"),
      member<GeluExact<Brain>, Brain, Brain>("gelu_exact bfloat16"),
      member<GeluTanh<Brain>, Brain, Brain>("gelu_tanh bfloat16"),
      member<GeluQuick<Brain>, Brain, Brain>("gelu_quick bfloat16"),
  };
}
