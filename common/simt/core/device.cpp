// The GPUs that can be modelled, and what they answer.
#include "common/simt/core/device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/simt/core/settings.h"

namespace simt {
namespace {

// What an H200 answered (driver 580, CUDA 13.0) beyond the fields of
// ModelDevice. Left out is what belongs to one card in one machine, such as its
// place on the PCI bus.
constexpr MeasuredAttribute kH200[] = {
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768},
    {cudaDevAttrMaxTextureCubemapWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxSurface1DWidth, 32768},
    {cudaDevAttrMaxSurface2DWidth, 131072},
    {cudaDevAttrMaxSurface2DHeight, 65536},
    {cudaDevAttrMaxSurface3DWidth, 16384},
    {cudaDevAttrMaxSurface3DHeight, 16384},
    {cudaDevAttrMaxSurface3DDepth, 16384},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
    {cudaDevAttrMultiGpuBoardGroupID, 0},
    {cudaDevAttrCanFlushRemoteWrites, 0},
    {cudaDevAttrMaxPersistingL2CacheSize, 39321600},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
    {126, 4},  // cudaDevAttrMemSyncDomainCount
    // Of the driver's API: gathers from textures, virtual memory, values that
    // streams store and wait for, tensor maps, pointers to functions that are
    // the same everywhere.
    {44, 1},
    {102, 1},
    {122, 1},
    {123, 1},
    {127, 1},
    {129, 1},
    {131, -1},  // cudaDevAttrNumaId: none
};

// What the executor lacks, whatever the model has: operations on memory in
// streams as they once were (92, 93), cooperative launches on several devices
// (96), what is shared by virtual memory (103 to 105, 107, 110, 124, 128, 132,
// 145), remote access (117, 118), events and pools that processes or the host
// share (94, 125, 142 to 144, 146), NUMA, MPS, graphics, numbers on a bus, and
// atomics that only some of the host's memory has (147).
constexpr int kLacking[] = {92,  93,  94,  96,  103, 104, 105, 107,
                            110, 117, 118, 124, 125, 128, 130, 132,
                            133, 134, 135, 136, 137, 138, 139, 140,
                            141, 142, 143, 144, 145, 146, 147};

constexpr int kHopperShared[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr int kAmpereShared[] = {8, 16, 32, 64, 100, 132, 164};
constexpr int kTuringShared[] = {32, 64};

// Sources: NVIDIA's data sheets and the CUDA programming guide's table of
// compute capabilities; for A100-40GB and T4 what deviceQuery prints, for H200
// what one answered (driver 580, CUDA 13.0).
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
     .shared_sizes = kHopperShared,
     .global_bytes = 150109880320,
     .l2_bytes = 60 * 1024 * 1024,
     .clock_khz = 1980000,
     .memory_clock_khz = 3201000,
     .memory_bus_bits = 6016,
     .single_to_double = 2,
     .measured = kH200},
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
     .shared_sizes = kAmpereShared,
     .global_bytes = 42405855232,
     .l2_bytes = 40 * 1024 * 1024,
     .clock_khz = 1410000,
     .memory_clock_khz = 1215000,
     .memory_bus_bits = 5120,
     .single_to_double = 2,
     .measured = {}},
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
     .shared_sizes = kTuringShared,
     .global_bytes = 15843721216,
     .l2_bytes = 4 * 1024 * 1024,
     .clock_khz = 1590000,
     .memory_clock_khz = 5001000,
     .memory_bus_bits = 256,
     .single_to_double = 32,
     .measured = {}},
};

const ModelDevice& find_model() {
  const std::string wanted = settings::device();
  if (wanted.empty()) return kModels[0];
  std::string known;
  for (const ModelDevice& model : kModels) {
    if (model.key == wanted) return model;
    known += std::string(known.empty() ? "" : ", ") + model.key;
  }
  std::fprintf(stderr, "simt: SIMT_DEVICE=%s: it is one of %s\n",
               wanted.c_str(), known.c_str());
  // Not exit(): this may run before main, or while the program is ending.
  std::_Exit(1);
}

std::optional<int> measured(const ModelDevice& device, int which) {
  for (const MeasuredAttribute& one : device.measured) {
    if (one.which == which) return one.value;
  }
  return std::nullopt;
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

int device_count() {
  static const int count = settings::devices();
  return count;
}

int model_multiprocessors() {
  return settings::multiprocessors().value_or(model_device().multiprocessors);
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
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;

    // What this one answers.
    case cudaDevAttrComputeCapabilityMajor:
      return d.major;
    case cudaDevAttrComputeCapabilityMinor:
      return d.minor;
    case cudaDevAttrMultiProcessorCount:
      return model_multiprocessors();
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
      return d.clock_khz;
    case cudaDevAttrMemoryClockRate:
      return d.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return d.memory_bus_bits;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return d.single_to_double;

    case cudaDevAttrClusterLaunch:
      return d.major >= 9;

    // What the executor does, whatever the model could: kernels reach only
    // memory that CUDA handed out; CUDA arrays are there as a whole, nothing is
    // shared with other processes or devices, and the device is on no bus.
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
      return 0;
    default:
      return std::ranges::count(kLacking, int(which)) ? 0 : measured(d, which);
  }
}

// The sizes of images that the device takes.
void set_image_sizes(cudaDeviceProp& p, const ModelDevice& d) {
  const auto set = [&](auto& to, std::initializer_list<cudaDeviceAttr> which) {
    int* out = to;
    for (const cudaDeviceAttr one : which) *out++ = value(d, one);
  };
  p.maxTexture1D = value(d, cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = value(d, cudaDevAttrMaxTexture1DMipmappedWidth);
  p.maxTextureCubemap = value(d, cudaDevAttrMaxTextureCubemapWidth);
  p.maxSurface1D = value(d, cudaDevAttrMaxSurface1DWidth);
  p.maxSurfaceCubemap = value(d, cudaDevAttrMaxSurfaceCubemapWidth);
  set(p.maxTexture2D,
      {cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight});
  set(p.maxTexture2DMipmap, {cudaDevAttrMaxTexture2DMipmappedWidth,
                             cudaDevAttrMaxTexture2DMipmappedHeight});
  set(p.maxTexture2DLinear,
      {cudaDevAttrMaxTexture2DLinearWidth, cudaDevAttrMaxTexture2DLinearHeight,
       cudaDevAttrMaxTexture2DLinearPitch});
  set(p.maxTexture2DGather, {cudaDevAttrMaxTexture2DGatherWidth,
                             cudaDevAttrMaxTexture2DGatherHeight});
  set(p.maxTexture3D,
      {cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight,
       cudaDevAttrMaxTexture3DDepth});
  set(p.maxTexture3DAlt,
      {cudaDevAttrMaxTexture3DWidthAlt, cudaDevAttrMaxTexture3DHeightAlt,
       cudaDevAttrMaxTexture3DDepthAlt});
  set(p.maxTexture1DLayered, {cudaDevAttrMaxTexture1DLayeredWidth,
                              cudaDevAttrMaxTexture1DLayeredLayers});
  set(p.maxTexture2DLayered, {cudaDevAttrMaxTexture2DLayeredWidth,
                              cudaDevAttrMaxTexture2DLayeredHeight,
                              cudaDevAttrMaxTexture2DLayeredLayers});
  set(p.maxTextureCubemapLayered, {cudaDevAttrMaxTextureCubemapLayeredWidth,
                                   cudaDevAttrMaxTextureCubemapLayeredLayers});
  set(p.maxSurface2D,
      {cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight});
  set(p.maxSurface3D,
      {cudaDevAttrMaxSurface3DWidth, cudaDevAttrMaxSurface3DHeight,
       cudaDevAttrMaxSurface3DDepth});
  set(p.maxSurface1DLayered, {cudaDevAttrMaxSurface1DLayeredWidth,
                              cudaDevAttrMaxSurface1DLayeredLayers});
  set(p.maxSurface2DLayered, {cudaDevAttrMaxSurface2DLayeredWidth,
                              cudaDevAttrMaxSurface2DLayeredHeight,
                              cudaDevAttrMaxSurface2DLayeredLayers});
  set(p.maxSurfaceCubemapLayered, {cudaDevAttrMaxSurfaceCubemapLayeredWidth,
                                   cudaDevAttrMaxSurfaceCubemapLayeredLayers});
}

cudaDeviceProp properties(const ModelDevice& d) {
  const auto of = [&d](cudaDeviceAttr which) { return value(d, which); };
  cudaDeviceProp p = {};
  std::strncpy(p.name, d.name, sizeof p.name - 1);
  p.totalGlobalMem = d.global_bytes;
  p.clusterLaunch = of(cudaDevAttrClusterLaunch);
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
  p.hostRegisterReadOnlySupported =
      of(cudaDevAttrHostRegisterReadOnlySupported);
  p.memoryPoolsSupported = of(cudaDevAttrMemoryPoolsSupported);
  p.ECCEnabled = of(cudaDevAttrEccEnabled);
  p.persistingL2CacheMaxSize = of(cudaDevAttrMaxPersistingL2CacheSize);
  p.accessPolicyMaxWindowSize = of(cudaDevAttrMaxAccessPolicyWindowSize);
  if constexpr (requires { p.unifiedFunctionPointers; })
    p.unifiedFunctionPointers = of(cudaDeviceAttr(129));
  set_image_sizes(p, d);
  set_older_fields(p, d);
  return p;
}

}  // namespace simt
