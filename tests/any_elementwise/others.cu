// Functions of other types, and of several at once, by name.
#include "tests/any_elementwise/family.h"

using namespace elementwise;

namespace {

// Two operands and a result, each of its own type.
struct Mixed {
  __device__ float operator()(__half a, int8_t b) const {
    return __half2float(a) + b;
  }
};
// Two results of different types.
struct HalfAndSign {
  __device__ Two<float, int8_t> operator()(float x) const {
    return {x / 2, static_cast<int8_t>(x < 0)};
  }
};
// 12 bytes that promise 4: no pack.
struct Turn {
  __device__ float3 operator()(float3 x) const { return {x.y, x.z, x.x}; }
};
// As many bytes as one access moves.
struct Swap {
  __device__ double2 operator()(double2 x) const { return {x.y, x.x}; }
};

}  // namespace

std::vector<by_name::Member> by_name::others() {
  return {
      member<Relu<double>, double, double>("relu double"),
      member<Relu<int8_t>, int8_t, int8_t>("relu int8"),
      member<Scale<int64_t>, int64_t, int64_t>("scale int64"),
      member<Mixed, float, __half, int8_t>("mixed"),
      member<HalfAndSign, Two<float, int8_t>, float>("half_and_sign"),
      member<Turn, float3, float3>("turn float3"),
      member<Swap, double2, double2>("swap double2"),
  };
}
