// Many copies in one call: each is what the plain call would do.
#include "common/simt/runtime/batches.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/runtime.h"

#if CUDART_VERSION >= 13000

namespace simt {
namespace {

void require_how(cudaMemcpySrcAccessOrder order, unsigned flags) {
  require(order >= cudaMemcpySrcAccessOrderStream &&
              order <= cudaMemcpySrcAccessOrderAny,
          cudaErrorInvalidValue, "srcAccessOrder is ", int(order));
  require(flags <= cudaMemcpyFlagPreferOverlapWithCompute,
          cudaErrorInvalidValue, "unknown flags ", flags);
}

void require_batch_stream(cudaStream_t stream) {
  require(!is_legacy(stream), cudaErrorInvalidValue,
          "a batch wants another stream than the legacy one");
}

// From memory that may be gone when the call has returned.
Work copy_of_ephemeral(void* to, const void* from, size_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(from);
  if (from == nullptr || allocations().find(address))
    return copy_work(to, from, bytes, cudaMemcpyDefault);
  const auto* const begin = static_cast<const std::byte*>(from);
  const auto kept =
      std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
  Work work = copy_work(to, kept->data(), bytes, cudaMemcpyDefault);
  work.run = [kept, run = std::move(work.run)] { run(); };
  return work;
}

// A side of a box: rows and slices are as long as they are told to be, or as
// the box is.
cudaPitchedPtr side_of(const cudaMemcpy3DOperand& side, cudaExtent box) {
  if (side.type != cudaMemcpyOperandTypePointer)
    throw Lacking{"arrays in batches of copies"};
  const auto& given = side.op.ptr;
  const size_t row = given.rowLength ? given.rowLength : box.width;
  const size_t rows = given.layerHeight ? given.layerHeight : box.height;
  return {given.ptr, row, row, rows};
}

Work copy_of_box(const cudaMemcpy3DBatchOp& given) {
  require_how(given.srcAccessOrder, given.flags);
  if (given.srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall)
    throw Lacking{"boxes in batches that are read during the call"};
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = side_of(given.src, given.extent);
  copy.dstPtr = side_of(given.dst, given.extent);
  copy.extent = given.extent;
  copy.kind = cudaMemcpyDefault;
  return copy_work(copy);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                 const size_t* bytes, size_t count,
                                 cudaMemcpyAttributes* attributes,
                                 size_t* begins, size_t entries,
                                 cudaStream_t stream) {
  return answer([&] {
    require(to != nullptr && from != nullptr && bytes != nullptr &&
                attributes != nullptr && count != 0,
            cudaErrorInvalidValue, "an array is null, or empty");
    require_batch_stream(stream);
    const Entries which(begins, entries, count);
    for (size_t k = 0; k < entries; ++k)
      require_how(attributes[k].srcAccessOrder, attributes[k].flags);
    require(std::count(bytes, bytes + count, 0u) == 0, cudaErrorInvalidValue,
            "a copy of the batch has no bytes");
    std::vector<Work> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(
          attributes[which.of(i)].srcAccessOrder ==
                  cudaMemcpySrcAccessOrderDuringApiCall
              ? copy_of_ephemeral(to[i], from[i], bytes[i])
              : copy_work(to[i], from[i], bytes[i], cudaMemcpyDefault));
    for (Work& work : all) issue(stream, std::move(work));
  });
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* given,
                                   unsigned long long flags,
                                   cudaStream_t stream) {
  return answer([&] {
    require(given != nullptr && count != 0 && flags == 0, cudaErrorInvalidValue,
            "opList is null or empty, or flags are not 0");
    require_batch_stream(stream);
    std::vector<Work> all;
    std::transform(given, given + count, std::back_inserter(all), copy_of_box);
    for (Work& work : all) issue(stream, std::move(work));
  });
}

}  // extern "C"

#endif
