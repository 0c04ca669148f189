#include "common/simt/device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace simt {
namespace {

constexpr uint64_t kGB = 1'000'000'000;

// Sources: NVIDIA's data sheets and the CUDA programming guide's table of
// compute capabilities. global_bytes is what deviceQuery prints for A100-40GB
// and T4, and the published 141 GB for H200.
constexpr ModelDevice kModels[] = {
    {.key = "h200",
     .name = "CPU executor (models NVIDIA H200)",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .shared_per_multiprocessor = 228 * 1024,
     .shared_opt_in = 227 * 1024,
     .shared_reserved = 1024,
     .shared_unit = 128,
     .global_bytes = 141 * kGB,
     .l2_bytes = 60 * 1024 * 1024,
     .clock_khz = 1980000,
     .memory_clock_khz = 0,
     .memory_bus_bits = 6144,
     .single_to_double = 2},
    {.key = "a100",
     .name = "CPU executor (models NVIDIA A100-40GB)",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .shared_per_multiprocessor = 164 * 1024,
     .shared_opt_in = 163 * 1024,
     .shared_reserved = 1024,
     .shared_unit = 128,
     .global_bytes = 42405855232,
     .l2_bytes = 40 * 1024 * 1024,
     .clock_khz = 1410000,
     .memory_clock_khz = 1215000,
     .memory_bus_bits = 5120,
     .single_to_double = 2},
    {.key = "t4",
     .name = "CPU executor (models NVIDIA T4)",
     .major = 7,
     .minor = 5,
     .multiprocessors = 40,
     .threads_per_multiprocessor = 1024,
     .blocks_per_multiprocessor = 16,
     .shared_per_multiprocessor = 64 * 1024,
     .shared_opt_in = 64 * 1024,
     .shared_reserved = 0,
     .shared_unit = 256,
     .global_bytes = 15843721216,
     .l2_bytes = 4 * 1024 * 1024,
     .clock_khz = 1590000,
     .memory_clock_khz = 5001000,
     .memory_bus_bits = 256,
     .single_to_double = 32},
};

const ModelDevice& find_model() {
  const char* wanted = std::getenv("SIMT_DEVICE");
  if (wanted == nullptr || *wanted == '\0') return kModels[0];
  std::string known;
  for (const ModelDevice& model : kModels) {
    if (std::strcmp(model.key, wanted) == 0) return model;
    known += std::string(known.empty() ? "" : ", ") + model.key;
  }
  std::fprintf(stderr, "simt: SIMT_DEVICE=%s is none of the devices: %s\n",
               wanted, known.c_str());
  // Not exit(): this may run before main, or while the program is ending.
  std::_Exit(1);
}

std::optional<int> if_known(int value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

int value(const ModelDevice& device, cudaDeviceAttr which) {
  return attribute(device, which).value_or(0);
}

// Fields that CUDA 13 removed; set where the toolkit still has them.
template <class Properties>
void set_older_fields(Properties& p, const ModelDevice& device) {
  if constexpr (requires { p.clockRate; }) p.clockRate = device.clock_khz;
  if constexpr (requires { p.memoryClockRate; }) {
    p.memoryClockRate = device.memory_clock_khz;
  }
  if constexpr (requires { p.deviceOverlap; }) p.deviceOverlap = 1;
  if constexpr (requires { p.singleToDoublePrecisionPerfRatio; }) {
    p.singleToDoublePrecisionPerfRatio = device.single_to_double;
  }
}

}  // namespace

const ModelDevice& model_device() {
  static const ModelDevice& model = find_model();
  return model;
}

std::optional<int> attribute(const ModelDevice& d, cudaDeviceAttr which) {
  switch (which) {
    // What every device of compute capability 7.5 and later answers.
    case cudaDevAttrMaxThreadsPerBlock:
      return kMaxThreads;
    case cudaDevAttrMaxBlockDimX:
      return kMaxBlock[0];
    case cudaDevAttrMaxBlockDimY:
      return kMaxBlock[1];
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlock[2];
    case cudaDevAttrMaxGridDimX:
      return kMaxGrid[0];
    case cudaDevAttrMaxGridDimY:
      return kMaxGrid[1];
    case cudaDevAttrMaxGridDimZ:
      return kMaxGrid[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedPerBlock;
    case cudaDevAttrTotalConstantMemory:
      return 64 * 1024;
    case cudaDevAttrWarpSize:
      return kWarpThreads;
    case cudaDevAttrMaxPitch:
      return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock:
      return kRegisters;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrTextureAlignment:
      return 512;
    case cudaDevAttrTexturePitchAlignment:
      return 32;
    case cudaDevAttrSurfaceAlignment:
      return 512;
    case cudaDevAttrAsyncEngineCount:
      return 3;
    case cudaDevAttrIntegrated:
      return 0;
    case cudaDevAttrTccDriver:
      return 0;
    case cudaDevAttrKernelExecTimeout:
      return 0;
    case cudaDevAttrComputeMode:
      return cudaComputeModeDefault;
    case cudaDevAttrIsMultiGpuBoard:
      return 0;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;

    // What this one answers.
    case cudaDevAttrComputeCapabilityMajor:
      return d.major;
    case cudaDevAttrComputeCapabilityMinor:
      return d.minor;
    case cudaDevAttrMultiProcessorCount:
      return d.multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return d.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return d.blocks_per_multiprocessor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return d.shared_per_multiprocessor;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return d.shared_opt_in;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return d.shared_reserved;
    case cudaDevAttrL2CacheSize:
      return d.l2_bytes;
    case cudaDevAttrClockRate:
      return if_known(d.clock_khz);
    case cudaDevAttrMemoryClockRate:
      return if_known(d.memory_clock_khz);
    case cudaDevAttrGlobalMemoryBusWidth:
      return d.memory_bus_bits;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return d.single_to_double;

    // What the executor does, whatever the model could: kernels reach only
    // memory that CUDA handed out, and run without clusters.
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrClusterLaunch:
      return 0;
    default:
      return std::nullopt;
  }
}

cudaDeviceProp properties(const ModelDevice& d) {
  const auto of = [&d](cudaDeviceAttr which) { return value(d, which); };
  cudaDeviceProp p = {};
  std::strncpy(p.name, d.name, sizeof p.name - 1);
  p.totalGlobalMem = d.global_bytes;
  p.sharedMemPerBlock = of(cudaDevAttrMaxSharedMemoryPerBlock);
  p.regsPerBlock = of(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = of(cudaDevAttrWarpSize);
  p.memPitch = of(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = of(cudaDevAttrMaxThreadsPerBlock);
  std::memcpy(p.maxThreadsDim, kMaxBlock, sizeof kMaxBlock);
  std::memcpy(p.maxGridSize, kMaxGrid, sizeof kMaxGrid);
  p.totalConstMem = of(cudaDevAttrTotalConstantMemory);
  p.major = d.major;
  p.minor = d.minor;
  p.textureAlignment = of(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = of(cudaDevAttrTexturePitchAlignment);
  p.multiProcessorCount = of(cudaDevAttrMultiProcessorCount);
  p.canMapHostMemory = of(cudaDevAttrCanMapHostMemory);
  p.surfaceAlignment = of(cudaDevAttrSurfaceAlignment);
  p.concurrentKernels = of(cudaDevAttrConcurrentKernels);
  p.asyncEngineCount = of(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = of(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = of(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = of(cudaDevAttrL2CacheSize);
  p.maxThreadsPerMultiProcessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = of(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = of(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = of(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor =
      of(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = of(cudaDevAttrManagedMemory);
  p.concurrentManagedAccess = of(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = of(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem =
      of(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = of(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.maxBlocksPerMultiProcessor = of(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.reservedSharedMemPerBlock = of(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterSupported = of(cudaDevAttrHostRegisterSupported);
  p.memoryPoolsSupported = of(cudaDevAttrMemoryPoolsSupported);
  set_older_fields(p, d);
  return p;
}

}  // namespace simt
