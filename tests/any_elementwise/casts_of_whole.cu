// Casts of whole numbers to all types, by name.
#include "tests/any_elementwise/casts.h"

std::vector<by_name::Member> by_name::casts_bool() {
  return casts<bool>("bool");
}
std::vector<by_name::Member> by_name::casts_int8() {
  return casts<int8_t>("int8");
}
std::vector<by_name::Member> by_name::casts_int16() {
  return casts<int16_t>("int16");
}
std::vector<by_name::Member> by_name::casts_int32() {
  return casts<int32_t>("int32");
}
std::vector<by_name::Member> by_name::casts_int64() {
  return casts<int64_t>("int64");
}
std::vector<by_name::Member> by_name::casts_uint8() {
  return casts<uint8_t>("uint8");
}
std::vector<by_name::Member> by_name::casts_uint16() {
  return casts<uint16_t>("uint16");
}
std::vector<by_name::Member> by_name::casts_uint32() {
  return casts<uint32_t>("uint32");
}
