// Functions of bfloat16s, by name.
#include "tests/any_elementwise/family.h"

using namespace elementwise;
using Brain = __nv_bfloat16;

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
