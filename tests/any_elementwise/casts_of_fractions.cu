// Casts of fractions to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_half() {
  return casts<__half>("half");
}
std::vector<by_name::Member> by_name::casts_bfloat16() {
  return casts<__nv_bfloat16>("bfloat16");
}
std::vector<by_name::Member> by_name::casts_float() {
  return casts<float>("float");
}
std::vector<by_name::Member> by_name::casts_double() {
  return casts<double>("double");
}
