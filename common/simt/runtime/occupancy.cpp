// Functions: their attributes, and how many blocks of them fit on a
// multiprocessor.
//
// Where no ptxas is found, registers are not part of it. Counts are then exact
// where registers cannot be the limit, and otherwise the most that a GPU could
// reach; that is said once.
#include <algorithm>

#include "common/simt/core/device.h"
#include "common/simt/decode/decode.h"
#include "common/simt/runtime/registers.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

constexpr unsigned kMostRegisters = 256;  // of a thread, as they are allotted
// To a warp, in such pieces, of its own quarter of a multiprocessor.
constexpr unsigned kRegisterUnit = 256, kQuarters = 4;

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

int opt_in_limit(const KernelInfo& kernel) {
  return model_device().shared_opt_in - int(kernel.static_shared);
}

// Of the L1 cache, how much should be shared memory, in percent: what was said
// of the function, or else of the device.
int carveout_of(const Entry& entry) {
  const int device = current_device();
  const int own = entry.carveout[device].value_or(cudaSharedmemCarveoutDefault);
  if (own != cudaSharedmemCarveoutDefault) return own;
  const cudaFuncCache cache = entry.cache[device] != cudaFuncCachePreferNone
                                  ? entry.cache[device]
                                  : device_cache_preference();
  return cache == cudaFuncCachePreferL1      ? cudaSharedmemCarveoutMaxL1
         : cache == cudaFuncCachePreferEqual ? 50
                                             : cudaSharedmemCarveoutMaxShared;
}

uint64_t shared_of_block(const KernelInfo& kernel, size_t dynamic_shared) {
  const ModelDevice& device = model_device();
  return round_up(
      kernel.static_shared + dynamic_shared + device.shared_reserved,
      device.shared_unit);
}

// Bytes that a multiprocessor makes shared memory: a block's at least.
uint64_t shared_of_multiprocessor(const Entry& entry, uint64_t block) {
  const ModelDevice& device = model_device();
  const uint64_t wanted =
      std::max<uint64_t>(block, uint64_t(carveout_of(entry)) *
                                    device.shared_per_multiprocessor / 100);
  for (const int kilobytes : device.shared_sizes)
    if (uint64_t(kilobytes) * 1024 >= wanted) return kilobytes * 1024;
  return device.shared_per_multiprocessor;
}

// How many warps' registers a multiprocessor has.
uint64_t warps_by_registers(int registers) {
  const uint64_t of_warp = round_up(registers * kWarpThreads, kRegisterUnit);
  return kRegisters / kQuarters / of_warp * kQuarters;
}

int occupancy(const void* function, int threads, size_t dynamic_shared) {
  Entry& entry = find_entry(function);
  const KernelInfo kernel = info(entry.kernel());
  require(threads > 0, cudaErrorInvalidValue, "a block of ", threads,
          " threads");
  // Nobody looks at __launch_bounds__ here, as on an H100.
  if (threads > kMaxThreads) return 0;
  if (dynamic_shared > size_t(dynamic_shared_limit(entry, kernel))) return 0;
  const int blocks = blocks_per_multiprocessor(
      kernel, threads, dynamic_shared,
      shared_of_multiprocessor(entry, shared_of_block(kernel, dynamic_shared)));
  if (registers_of(*entry.kernel()))
    return limit_by_registers(blocks, *entry.kernel(), threads);
  if (uint64_t(blocks) * round_up(threads, kWarpThreads) * kMostRegisters >
      kRegisters) {
    say("occupancy is counted from threads, blocks and shared memory; "
        "registers are not known here, for no ptxas was found that makes "
        "machine code of the kernel, so a GPU may fit fewer blocks");
  }
  return blocks;
}

// The most that each of so many blocks can have, if they fit at all.
size_t shared_left(const void* function, int blocks, int threads) {
  require(function != nullptr, cudaErrorInvalidDeviceFunction,
          "there is no kernel");
  require(blocks > 0, cudaErrorInvalidValue, blocks, " blocks");
  const int fitting = occupancy(function, threads, 0);
  require(blocks <= fitting, cudaErrorInvalidValue, blocks, " blocks of ",
          threads, " threads; at most ", fitting, " fit on a multiprocessor");
  const ModelDevice& device = model_device();
  Entry& entry = find_entry(function);
  const KernelInfo kernel = info(entry.kernel());
  // A single one gets all of it, whatever is preferred.
  const int all =
      blocks == 1
          ? device.shared_per_multiprocessor
          : int(shared_of_multiprocessor(entry, shared_of_block(kernel, 0)));
  const int each = all / blocks / device.shared_unit * device.shared_unit;
  // What the system reserves of each is not taken off on an H100 either.
  return std::min(dynamic_shared_limit(entry, kernel),
                  each - int(kernel.static_shared));
}

void require_settable(cudaFuncAttribute which) {
  require(which == cudaFuncAttributeMaxDynamicSharedMemorySize ||
              which == cudaFuncAttributePreferredSharedMemoryCarveout ||
              (which >= cudaFuncAttributeClusterDimMustBeSet &&
               which <= cudaFuncAttributeClusterSchedulingPolicyPreference),
          cudaErrorInvalidValue, "attribute ", int(which), " cannot be set");
}

void set_attribute(const void* function, cudaFuncAttribute which, int value) {
  require_settable(which);
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
      entry.non_portable_cluster[current_device()] = value != 0;
      return;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:  // a hint
      require(value >= 0 && value <= cudaClusterSchedulingPolicyLoadBalancing,
              cudaErrorInvalidValue, value, " is no such policy");
      entry.policy[current_device()] = value;
      return;
    case cudaFuncAttributePreferredSharedMemoryCarveout:  // a hint
      require(value >= -1 && value <= 100, cudaErrorInvalidValue, value,
              " is no percentage");
      entry.carveout[current_device()] = value;
      return;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      require(value >= 0 && kernel.cluster[0] == 0, cudaErrorInvalidValue,
              value < 0 ? "a negative number"
                        : "the kernel says itself how large its clusters are");
      throw Lacking{text("function attribute ", int(which))};
    default:
      throw Refused{cudaErrorInvalidValue,
                    text("attribute ", int(which), " cannot be set")};
  }
}

}  // namespace

int limit_by_registers(int blocks, Kernel& kernel, unsigned threads) {
  const int registers = kernel.registers;
  if (registers == 0) return blocks;
  const uint64_t warps = round_up(threads, kWarpThreads) / kWarpThreads;
  const uint64_t fitting = warps_by_registers(registers);
  if (round_up(warps, kQuarters) > fitting) return 0;
  return int(std::min<uint64_t>(blocks, fitting / warps));
}

// CUB asks for attributes of a kernel of its own, and only for others.
static int registers_told_of(Kernel& kernel) {
  const int registers = registers_of(kernel);
  if (registers == 0 && !kernel.name.starts_with("cub::"))
    say("numRegs is 0: how many registers a kernel takes is not known here, "
        "for no ptxas was found that makes machine code of it");
  return registers;
}

cudaFuncAttributes attributes_of(const Entry& entry, Kernel& of) {
  const KernelInfo kernel = info(&of);
  const ModelDevice& device = model_device();
  cudaFuncAttributes a = {};
  a.sharedSizeBytes = kernel.static_shared;
  a.constSizeBytes = kernel.const_bytes;
  a.localSizeBytes = kernel.local_bytes;
  a.numRegs = registers_told_of(of);
  a.maxThreadsPerBlock = kernel.max_threads;
  if (a.numRegs != 0)
    a.maxThreadsPerBlock =
        std::min(a.maxThreadsPerBlock,
                 int(warps_by_registers(a.numRegs)) * kWarpThreads);
  a.ptxVersion = entry.ptx_version();
  a.binaryVersion = 10 * device.major + device.minor;
  a.maxDynamicSharedSizeBytes = dynamic_shared_limit(entry, kernel);
  a.preferredShmemCarveout =
      entry.carveout[current_device()].value_or(cudaSharedmemCarveoutDefault);
  a.clusterSchedulingPolicyPreference = entry.policy[current_device()].value_or(
      cudaClusterSchedulingPolicyDefault);
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
  return blocks_per_multiprocessor(kernel, threads, dynamic_shared,
                                   model_device().shared_per_multiprocessor);
}

int blocks_per_multiprocessor(const KernelInfo& kernel, unsigned threads,
                              size_t dynamic_shared,
                              uint64_t shared_of_multiprocessor) {
  const ModelDevice& device = model_device();
  const uint64_t shared = shared_of_block(kernel, dynamic_shared);
  uint64_t blocks = device.blocks_per_multiprocessor;
  blocks = std::min<uint64_t>(blocks, device.threads_per_multiprocessor /
                                          round_up(threads, kWarpThreads));
  if (shared != 0) {
    blocks = std::min(blocks, shared_of_multiprocessor / shared);
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
    *attributes = attributes_of(entry, *entry.kernel());
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which,
                                 int value) {
  return answer([&] {
    set_attribute(function, which, value);
    remember(cudaSuccess);  // As CUDA 13.0 does, whatever the last error was.
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* function, int threads, size_t dynamic_shared) {
  return answer([&] {
    require(blocks != nullptr, cudaErrorInvalidValue, "numBlocks is null");
    *blocks = occupancy(function, threads, dynamic_shared);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                      const void* function,
                                                      int blocks, int threads) {
  return answer([&] {
    require(bytes != nullptr, cudaErrorInvalidValue, "dynamicSmemSize is null");
    *bytes = shared_left(function, blocks, threads);
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t which,
                                 size_t* offset, size_t* bytes) {
  return answer([&] {
    require(offset != nullptr, cudaErrorInvalidValue, "paramOffset is null");
    const Program& program = program_of(*find_entry(function).kernel());
    require(which < program.parameter_sizes.size(), cudaErrorInvalidValue,
            "parameter ", which, " of ", program.parameter_sizes.size());
    *offset = program.parameter_offsets[which];
    if (bytes) *bytes = program.parameter_sizes[which];
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
