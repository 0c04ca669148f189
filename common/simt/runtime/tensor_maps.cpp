// Tensor maps, and the few calls of the driver's by which programs make them.
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/simt/memory/tensor_map.h"
#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

template <class... Part>
void require_argument(bool holds, const Part&... why) {
  demand(holds, CUDA_ERROR_INVALID_VALUE, why...);
}

// ---- What a map is made of --------------------------------------------------

// What was asked for, as the program says it.
struct Wanted {
  CUtensorMap* map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *dim, *stride;
  const cuuint32_t *box, *step;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

constexpr uint64_t kMostExtent = 1ull << 32, kStrideEnd = 1ull << 40;
constexpr uint32_t kMostBox = 256, kMostStep = 8, kUnit = 16;

// The number that PTX gives the type; nothing: the executor does not have it.
std::optional<uint8_t> element_of(CUtensorMapDataType type) {
  constexpr uint8_t kNumbers[] = {
      0, 1, 2, 3, 4, 5, 6, 7, 9, 10, TensorMap::kFlushed, TensorMap::kTf32};
  return size_t(type) < std::size(kNumbers) ? std::optional(kNumbers[type])
                                            : std::nullopt;
}

void check_types(const Wanted& w) {
  // ...16U6_ALIGN16B and ...128B_ATOM_64B, which CUDA 12.6 does not name yet.
  constexpr int kLastType = 15, kLastSwizzle = 6;
  require_argument(w.type >= 0 && w.type <= kLastType, "tensorDataType ",
                   int(w.type), " does not exist");
  require_argument(
      w.interleave >= 0 && w.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B,
      "interleave ", int(w.interleave), " does not exist");
  require_argument(w.swizzle >= 0 && w.swizzle <= kLastSwizzle, "swizzle ",
                   int(w.swizzle), " does not exist");
  require_argument(
      w.promotion >= 0 && w.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      "l2Promotion ", int(w.promotion), " does not exist");
  require_argument(
      w.fill >= 0 &&
          w.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
      "oobFill ", int(w.fill), " does not exist");
  const auto element = element_of(w.type);
  const Type type = element ? TensorMap::kTypes[*element] : Type{};
  require_argument(!w.fill || !(type.is('u') || type.is('s')),
                   "oobFill asks for NaN, and the elements are integers");
  require_argument(w.interleave != CU_TENSOR_MAP_INTERLEAVE_32B ||
                       w.swizzle == CU_TENSOR_MAP_SWIZZLE_32B,
                   "with CU_TENSOR_MAP_INTERLEAVE_32B, swizzle must be "
                   "CU_TENSOR_MAP_SWIZZLE_32B");
}

void check_shape(const Wanted& w) {
  const uint32_t unit =
      w.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 2 * kUnit : kUnit;
  const uint32_t least = w.interleave ? 3 : 1;
  require_argument(w.rank >= least && w.rank <= TensorMap::kMostDimensions,
                   "tensorRank is ", w.rank, ", and should be from ", least,
                   " to ", TensorMap::kMostDimensions);
  require_argument(w.dim && w.box && w.step && (w.stride || w.rank == 1),
                   "one of the arrays is null");
  require_argument(reinterpret_cast<uint64_t>(w.address) % unit == 0,
                   "globalAddress = ", w.address, " is no multiple of ", unit);
  for (uint32_t d = 0; d < w.rank; ++d) {
    require_argument(w.dim[d] > 0 && w.dim[d] <= kMostExtent, "globalDim[", d,
                     "] is ", w.dim[d], ", and should be from 1 to 2^32");
    require_argument(w.box[d] > 0 && w.box[d] <= kMostBox, "boxDim[", d,
                     "] is ", w.box[d], ", and should be from 1 to ", kMostBox);
    require_argument(w.step[d] > 0 && w.step[d] <= kMostStep, "elementStrides[",
                     d, "] is ", w.step[d], ", and should be from 1 to ",
                     kMostStep);
    if (d + 1 < w.rank)
      require_argument(w.stride[d] % unit == 0 && w.stride[d] < kStrideEnd,
                       "globalStrides[", d, "] is ", w.stride[d],
                       " bytes, and should be a multiple of ", unit,
                       " below 2^40");
  }
}

uint32_t span_of(CUtensorMapSwizzle swizzle) {
  constexpr uint32_t kSpans[] = {0, 32, 64, 128};
  return swizzle < std::size(kSpans) ? kSpans[swizzle] : 128;
}

void check_row(const Wanted& w, uint32_t bytes) {
  if (w.interleave) return;
  require_argument(bytes % kUnit == 0, "a row of the box has ", bytes,
                   " bytes, and should have a multiple of ", kUnit);
  require_argument(
      !w.swizzle || bytes <= span_of(w.swizzle), "a row of the box has ", bytes,
      " bytes, and the swizzle is for at most ", span_of(w.swizzle));
}

// What CUDA accepts and the executor cannot do.
void require_known(const Wanted& w) {
  if (w.interleave) throw Lacking{"tensor maps with an interleaved layout"};
  if (w.swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    throw Lacking{"swizzle of other chunks than 16 bytes"};
}

TensorMap map_of(const Wanted& w) {
  require_argument(w.map && reinterpret_cast<uint64_t>(w.map) % 64 == 0,
                   "tensorMap = ", w.map, " should be a multiple of 64");
  check_types(w);
  check_shape(w);
  const auto element = element_of(w.type);
  if (!element)
    throw Lacking{text("tensors of the type ", int(w.type),
                       ": flushed tf32 and packed numbers are missing")};
  check_row(w, w.box[0] * TensorMap::kTypes[*element].bytes);
  require_known(w);
  TensorMap map;
  map.address = reinterpret_cast<uint64_t>(w.address);
  map.last_dimension = static_cast<uint8_t>(w.rank - 1);
  map.element = *element;
  map.swizzle_mode = static_cast<uint8_t>(w.swizzle);
  map.fills_nan = w.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (uint32_t d = 0; d < w.rank; ++d) {
    map.extent[d] = static_cast<uint32_t>(w.dim[d]);
    map.box[d] = w.box[d];
    map.step[d] = static_cast<uint8_t>(d ? w.step[d] : 1);  // CUDA ignores it
    if (d) map.stride[d] = w.stride[d - 1];
  }
  return map;
}

// ---- The driver's functions -------------------------------------------------

cudaError_t find_function(const char* symbol, void** function, unsigned version,
                          cudaDriverEntryPointQueryResult* status,
                          const char* call) {
  return answer_always(
      [&] {
        require(symbol && function, cudaErrorInvalidValue,
                "symbol or funcPtr is null");
        *function = nullptr;
        if (status) *status = cudaDriverEntryPointSymbolNotFound;
        *function = driver_function(symbol, version);
        if (status) *status = cudaDriverEntryPointSuccess;
      },
      call);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type,
                                cuuint32_t rank, void* address,
                                const cuuint64_t* dim, const cuuint64_t* stride,
                                const cuuint32_t* box, const cuuint32_t* step,
                                CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  return drive(
      Needs::kNothing,
      [&] {
        const TensorMap made =
            map_of({map, type, rank, address, dim, stride, box, step,
                    interleave, swizzle, promotion, fill});
        *map = {};
        std::memcpy(map, &made, sizeof made);
      },
      "cuTensorMapEncodeTiled");
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return drive(
      Needs::kNothing,
      [&] {
        TensorMap known;
        require_argument(map, "tensorMap is null");
        std::memcpy(static_cast<void*>(&known), map, sizeof known);
        require_argument(known.mark == TensorMap::kMark,
                         "tensorMap is none that cuTensorMapEncodeTiled made");
        require_argument(reinterpret_cast<uint64_t>(address) % kUnit == 0,
                         "globalAddress = ", address, " is no multiple of ",
                         kUnit);
        known.address = reinterpret_cast<uint64_t>(address);
        std::memcpy(map, &known, sizeof known);
      },
      "cuTensorMapReplaceAddress");
}

#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                    unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  return find_function(symbol, function, CUDART_VERSION, status,
                       "cudaGetDriverEntryPoint");
}
cudaError_t cudaGetDriverEntryPoint_ptsz(
    const char* symbol, void** function, unsigned long long,
    cudaDriverEntryPointQueryResult* status) {
  return find_function(symbol, function, CUDART_VERSION, status,
                       "cudaGetDriverEntryPoint");
}

cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned version, unsigned long long,
    cudaDriverEntryPointQueryResult* status) {
  return find_function(symbol, function, version, status,
                       "cudaGetDriverEntryPointByVersion");
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** function, unsigned version, unsigned long long,
    cudaDriverEntryPointQueryResult* status) {
  return find_function(symbol, function, version, status,
                       "cudaGetDriverEntryPointByVersion");
}

}  // extern "C"
