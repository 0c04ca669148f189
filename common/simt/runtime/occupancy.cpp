// Functions: their attributes, and how many blocks of them fit on a
// multiprocessor.
//
// Registers are not part of it. ptxas assigns them when it makes machine code,
// which never happens here. Counts are therefore exact where registers cannot
// be the limit, and otherwise the most that a GPU could reach; that is said
// once.
#include <algorithm>

#include "common/simt/core/device.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr unsigned kMostRegisters = 256;  // of a thread, as they are allotted

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

int opt_in_limit(const KernelInfo& kernel) {
  return model_device().shared_opt_in - int(kernel.static_shared);
}

int occupancy(const void* function, int threads, size_t dynamic_shared) {
  Entry& entry = find_entry(function);
  const KernelInfo kernel = info(entry.kernel());
  require(threads > 0, cudaErrorInvalidValue, "a block of ", threads,
          " threads");
  if (unsigned(threads) > kernel.max_threads) return 0;
  if (dynamic_shared > size_t(dynamic_shared_limit(entry, kernel))) return 0;
  const int blocks = blocks_per_multiprocessor(kernel, threads, dynamic_shared);
  if (uint64_t(blocks) * round_up(threads, kWarpThreads) * kMostRegisters >
      kRegisters) {
    say("occupancy is counted from threads, blocks and shared memory; "
        "registers are not known here, so a GPU may fit fewer blocks");
  }
  return blocks;
}

void set_attribute(const void* function, cudaFuncAttribute which, int value) {
  Entry& entry = find_entry(function);
  const KernelInfo kernel = info(entry.kernel());
  switch (which) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      require(value >= 0 && value <= opt_in_limit(kernel),
              cudaErrorInvalidValue, kernel.name, ": ", value,
              " bytes of dynamic shared memory; the device allows ",
              opt_in_limit(kernel), " beside ", kernel.static_shared,
              " static ones");
      entry.max_dynamic_shared[current_device()] = value;
      return;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      require(value == 0 || value == 1, cudaErrorInvalidValue, value,
              " is neither 0 nor 1");
      entry.non_portable_cluster[current_device()] = value != 0;
      return;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:  // a hint
      require(value >= 0 && value <= cudaClusterSchedulingPolicyLoadBalancing,
              cudaErrorInvalidValue, value, " is no such policy");
      return;
    case cudaFuncAttributePreferredSharedMemoryCarveout:  // a hint
      require(value >= -1 && value <= 100, cudaErrorInvalidValue, value,
              " is no percentage");
      return;
    default:
      throw Lacking{text("function attribute ", int(which))};
  }
}

}  // namespace

cudaFuncAttributes attributes_of(const Entry& entry, const KernelInfo& kernel) {
  const ModelDevice& device = model_device();
  cudaFuncAttributes a = {};
  a.sharedSizeBytes = kernel.static_shared;
  a.constSizeBytes = kernel.const_bytes;
  a.localSizeBytes = kernel.local_bytes;
  a.maxThreadsPerBlock = kernel.max_threads;
  a.numRegs = 0;  // no kernel has none: it means "not known"
  a.ptxVersion = entry.ptx_version();
  a.binaryVersion = 10 * device.major + device.minor;
  a.maxDynamicSharedSizeBytes = dynamic_shared_limit(entry, kernel);
  a.preferredShmemCarveout = -1;  // cudaSharedmemCarveoutDefault
  a.clusterDimMustBeSet = kernel.wants_cluster;
  a.requiredClusterWidth = int(kernel.cluster[0]);
  a.requiredClusterHeight = int(kernel.cluster[1]);
  a.requiredClusterDepth = int(kernel.cluster[2]);
  a.nonPortableClusterSizeAllowed =
      entry.non_portable_cluster[current_device()];
  return a;
}

int dynamic_shared_limit(const Entry& entry, const KernelInfo& kernel) {
  const auto& set = entry.max_dynamic_shared[current_device()];
  if (set) return *set;
  return std::max(0, kSharedPerBlock - int(kernel.static_shared));
}

int blocks_per_multiprocessor(const KernelInfo& kernel, unsigned threads,
                              size_t dynamic_shared) {
  const ModelDevice& device = model_device();
  const uint64_t shared =
      round_up(kernel.static_shared + dynamic_shared + device.shared_reserved,
               device.shared_unit);
  uint64_t blocks = device.blocks_per_multiprocessor;
  blocks = std::min<uint64_t>(blocks, device.threads_per_multiprocessor /
                                          round_up(threads, kWarpThreads));
  if (shared != 0) {
    blocks =
        std::min<uint64_t>(blocks, device.shared_per_multiprocessor / shared);
  }
  return int(blocks);
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void* function) {
  return answer([&] {
    require(attributes != nullptr, cudaErrorInvalidValue, "attr is null");
    Entry& entry = find_entry(function);
    *attributes = attributes_of(entry, info(entry.kernel()));
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which,
                                 int value) {
  return answer([&] { set_attribute(function, which, value); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* function, int threads, size_t dynamic_shared) {
  return answer([&] {
    require(blocks != nullptr, cudaErrorInvalidValue, "numBlocks is null");
    *blocks = occupancy(function, threads, dynamic_shared);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int* size, const void* function, const cudaLaunchConfig_t* config) {
  return answer([&] {
    require(size != nullptr && config != nullptr, cudaErrorInvalidValue,
            "clusterSize or launchConfig is null");
    const Entry& entry = find_entry(function);
    *size = entry.non_portable_cluster[current_device()]
                ? kMostInCluster
                : kMostInPortableCluster;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared,
    unsigned flags) {
  return answer([&] {
    require(blocks != nullptr, cudaErrorInvalidValue, "numBlocks is null");
    require(flags <= cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue,
            "unknown flags ", flags);
    *blocks = occupancy(function, threads, dynamic_shared);
  });
}

}  // extern "C"
