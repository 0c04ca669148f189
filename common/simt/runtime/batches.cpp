// Many copies in one call: each is what the plain call would do.
#include "common/simt/runtime/batches.h"

#include <memory>
#include <vector>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/runtime.h"

#if CUDART_VERSION >= 13000

namespace simt {
namespace {

void require_order(const cudaMemcpyAttributes& attributes) {
  require(attributes.srcAccessOrder >= cudaMemcpySrcAccessOrderStream &&
              attributes.srcAccessOrder <= cudaMemcpySrcAccessOrderAny,
          cudaErrorInvalidValue, "srcAccessOrder is ",
          int(attributes.srcAccessOrder));
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
    require(!is_legacy(stream), cudaErrorInvalidValue,
            "a batch wants another stream than the legacy one");
    const Entries which(begins, entries, count);
    for (size_t k = 0; k < entries; ++k) require_order(attributes[k]);
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

decltype(cudaMemcpyBatchAsync) cudaMemcpyBatchAsync_ptsz
    __attribute__((alias("cudaMemcpyBatchAsync")));

}  // extern "C"

#endif
