// Sums, products and their like of every type that NCCL knows.
#include "common/simt/nccl/reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace simt::nccl {
namespace {

// What a type is computed in: of narrow floats, one rounding from a float is
// the same as one from the exact result.
template <class T>
using Wide =
    std::conditional_t<std::is_arithmetic_v<T> && (sizeof(T) >= 4), T,
                       std::conditional_t<std::is_integral_v<T>, int, float>>;

template <class T>
T combine(ncclRedOp_t op, T a, T b) {
  using W = Wide<T>;
  const W x = static_cast<W>(a), y = static_cast<W>(b);
  if constexpr (std::is_integral_v<W>) {
    using U = std::make_unsigned_t<W>;  // What is too large wraps around.
    if (op == ncclProd) return static_cast<T>(U(x) * U(y));
    if (op == ncclMin) return static_cast<T>(std::min(x, y));
    if (op == ncclMax) return static_cast<T>(std::max(x, y));
    return static_cast<T>(U(x) + U(y));
  } else {
    if (op == ncclProd) return static_cast<T>(x * y);
    if (op == ncclMin) return static_cast<T>(std::fmin(x, y));
    if (op == ncclMax) return static_cast<T>(std::fmax(x, y));
    return static_cast<T>(x + y);
  }
}

// Floats are averaged as they come, integers in the end.
template <class T>
T before(ncclRedOp_t op, T value, size_t ranks) {
  using W = Wide<T>;
  if constexpr (!std::is_integral_v<T>)
    if (op == ncclAvg)
      return static_cast<T>(static_cast<W>(value) * (W(1) / W(ranks)));
  return value;
}
template <class T>
T after(ncclRedOp_t op, T value, size_t ranks) {
  if constexpr (std::is_integral_v<T>)
    if (op == ncclAvg) return static_cast<T>(value / static_cast<T>(ranks));
  return value;
}

template <class T>
void reduce_all(void* to, const std::vector<const void*>& from, size_t count,
                ncclRedOp_t op) {
  const size_t ranks = from.size();
  const auto at = [&](size_t rank, size_t i) {
    return before(op, static_cast<const T*>(from[rank])[i], ranks);
  };
  for (size_t i = 0; i < count; ++i) {
    T result = at(0, i);
    for (size_t rank = 1; rank < ranks; ++rank)
      result = combine<T>(op, result, at(rank, i));
    static_cast<T*>(to)[i] = after<T>(op, result, ranks);
  }
}

struct OfType {
  size_t bytes;
  void (*reduce)(void*, const std::vector<const void*>&, size_t, ncclRedOp_t);
};
template <class T>
constexpr OfType kOf = {sizeof(T), reduce_all<T>};

constexpr OfType kTypes[ncclNumTypes] = {
    kOf<int8_t>,  kOf<uint8_t>,       kOf<int32_t>,       kOf<uint32_t>,
    kOf<int64_t>, kOf<uint64_t>,      kOf<__half>,        kOf<float>,
    kOf<double>,  kOf<__nv_bfloat16>, kOf<__nv_fp8_e4m3>, kOf<__nv_fp8_e5m2>};

}  // namespace

size_t bytes_of(ncclDataType_t type) { return kTypes[type].bytes; }

void reduce(void* to, const std::vector<const void*>& from, size_t count,
            ncclDataType_t type, ncclRedOp_t op) {
  kTypes[type].reduce(to, from, count, op);
}

}  // namespace simt::nccl
