// Errors and the device: names and sentences, the last error of each thread,
// what a failed kernel leaves, attributes that agree with the properties, codes
// for devices that are not there.

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "tests/simt/child.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void nothing_kernel() {}

__global__ void store_kernel(int* to) { *to = 1; }

void names() {
  const struct {
    cudaError_t code;
    const char *name, *sentence;
  } known[] = {
      {cudaSuccess, "cudaSuccess", "no error"},
      {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
      {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
      {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
       "invalid configuration argument"},
      {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
       "invalid device function"},
      {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
       "an illegal memory access was encountered"},
      {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress",
       "misaligned address"},
      {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
      {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
       "unspecified launch failure"},
      {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
       "too many blocks in cooperative launch"},
      {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
       "operation not permitted on an event last recorded in a capturing "
       "stream"},
      {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
       "the graph update was not performed because it included changes which "
       "violated constraints specific to instantiated graph update"},
      {static_cast<cudaError_t>(5555), "unrecognized error code",
       "unrecognized error code"},
  };
  for (const auto& error : known) {
    equal(std::string(cudaGetErrorName(error.code)), error.name);
    equal(std::string(cudaGetErrorString(error.code)), error.sentence);
  }
}

void last_error() {
  equal(cudaGetLastError(), cudaSuccess);
  nothing_kernel<<<0, 1>>>();
  const cudaError_t empty = cudaPeekAtLastError();
  is_true(empty != cudaSuccess, "an empty grid is refused");
  nothing_kernel<<<1, 1>>>();  // success does not clear it
  equal(cudaPeekAtLastError(), empty);
  std::thread([] { equal(cudaGetLastError(), cudaSuccess); }).join();
  equal(cudaGetLastError(), empty);
  equal(cudaGetLastError(), cudaSuccess);
  equal(cudaDeviceSynchronize(), cudaSuccess);
}

// The first call that touches the device tells of it, and each one after that.
// None of them is the last error for longer than others are.
void fail() {
  int* x = nullptr;
  ok(cudaMalloc(&x, sizeof *x));
  store_kernel<<<1, 1>>>(reinterpret_cast<int*>(8));
  equal(cudaGetLastError(), cudaSuccess);
  equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  equal(cudaGetLastError(), cudaErrorIllegalAddress);
  equal(cudaGetLastError(), cudaSuccess);
  equal(cudaPeekAtLastError(), cudaSuccess);
  store_kernel<<<1, 1>>>(x);
  equal(cudaGetLastError(), cudaErrorIllegalAddress);
  equal(cudaFree(x), cudaErrorIllegalAddress);
  equal(cudaGetLastError(), cudaErrorIllegalAddress);

  int n = 0;
  cudaDeviceProp p;
  cudaPointerAttributes pointer;
  cudaGraph_t graph;
  equal(cudaGetDeviceCount(&n), cudaSuccess);
  equal(cudaGetDevice(&n), cudaSuccess);
  equal(cudaSetDevice(0), cudaSuccess);
  equal(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0), cudaSuccess);
  equal(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  equal(cudaPointerGetAttributes(&pointer, x), cudaSuccess);
  equal(cudaGraphCreate(&graph, 0), cudaSuccess);

  equal(cudaDeviceReset(), cudaSuccess);
  equal(cudaMalloc(&x, sizeof *x), cudaErrorDevicesUnavailable);
  equal(cudaDeviceSynchronize(), cudaErrorDevicesUnavailable);
}

void failed_kernel() {
  const Ended ended = run_self("fail");
  is_true(ended.output.find(" passed, 0 failed") != std::string::npos,
          "all as expected after a failed kernel");
  if (!on_executor()) return;
  equal(ended.status, 1);
  is_true(ended.output.find("out of bounds: write of 4 bytes at global address "
                            "0x8") != std::string::npos,
          "the mistake is told");
}

void attributes() {
  cudaDeviceProp p = {};
  ok(cudaGetDeviceProperties(&p, 0));
  const auto is = [](cudaDeviceAttr which, int expected) {
    int value = -1;
    ok(cudaDeviceGetAttribute(&value, which, 0));
    equal(value, expected);
  };
  is(cudaDevAttrMultiProcessorCount, p.multiProcessorCount);
  is(cudaDevAttrMaxThreadsPerBlock, 1024);
  is(cudaDevAttrWarpSize, p.warpSize);
  is(cudaDevAttrWarpSize, 32);
  is(cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor);
  is(cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor);
  is(cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024);
  is(cudaDevAttrMaxSharedMemoryPerBlockOptin, int(p.sharedMemPerBlockOptin));
  is(cudaDevAttrMaxSharedMemoryPerMultiprocessor,
     int(p.sharedMemPerMultiprocessor));
  is(cudaDevAttrReservedSharedMemoryPerBlock, int(p.reservedSharedMemPerBlock));
  is(cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock);
  is(cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor);
  is(cudaDevAttrL2CacheSize, p.l2CacheSize);
  is(cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth);
  is(cudaDevAttrComputeCapabilityMajor, p.major);
  is(cudaDevAttrComputeCapabilityMinor, p.minor);
  is(cudaDevAttrMaxGridDimX, 2147483647);
  is(cudaDevAttrMaxGridDimY, 65535);
  is(cudaDevAttrMaxBlockDimZ, 64);
  is(cudaDevAttrTotalConstantMemory, 65536);
  is(cudaDevAttrUnifiedAddressing, 1);
  is(cudaDevAttrCooperativeLaunch, 1);
  is_true(p.totalGlobalMem > size_t{1} << 30, "more than a GiB of memory");

  is(cudaDevAttrHostRegisterReadOnlySupported, 1);
  is(cudaDevAttrNumaConfig, 0);
  is(cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2]);
  is(cudaDevAttrMaxSurface3DDepth, p.maxSurface3D[2]);
  is(cudaDevAttrMaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1]);
  int value = 0;
  // None is unknown, of those that CUDA 13.0 has; a later toolkit names more.
  for (int which = 1; which < std::min<int>(cudaDevAttrMax, 148); ++which)
    ok(cudaDeviceGetAttribute(&value, cudaDeviceAttr(which), 0));
  equal(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(255), 0),
        cudaErrorInvalidValue);
  cudaGetLastError();
  if (std::strstr(p.name, "CPU executor") == nullptr) return;
  if (std::strstr(p.name, "H200") != nullptr) {
    is(cudaDevAttrMaxTexture1DWidth, p.maxTexture1D);  // as one answered
  }
}

void devices() {
  int count = 0, current = -1, version = 0, runtime = 0;
  ok(cudaGetDeviceCount(&count));
  is_true(count >= 1, "a device");
  equal(cudaSetDevice(count), cudaErrorInvalidDevice);
  equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaGetLastError();
  ok(cudaSetDevice(0));
  ok(cudaGetDevice(&current));
  equal(current, 0);
  ok(cudaRuntimeGetVersion(&runtime));
  equal(runtime, CUDART_VERSION);
  ok(cudaDriverGetVersion(&version));
  is_true(version / 1000 >= runtime / 1000, "a driver no older");

  size_t stack = 0, heap = 0;
  ok(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  equal(stack, 1024);
  ok(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  equal(heap, 8 << 20);
  ok(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  ok(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  equal(stack, 4096);
  ok(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
  ok(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  equal(stack, 1008);
  equal(cudaDeviceSetLimit(cudaLimitStackSize, size_t{1} << 40),
        cudaErrorInvalidValue);
  const auto becomes = [](cudaLimit which, size_t given, size_t expected) {
    size_t got = 0;
    ok(cudaDeviceSetLimit(which, given));
    ok(cudaDeviceGetLimit(&got, which));
    equal(got, expected);
  };
  becomes(cudaLimitPrintfFifoSize, 1000, 512 << 10);
  becomes(cudaLimitPrintfFifoSize, 3000001, 3000064);
  becomes(cudaLimitMallocHeapSize, 1000, 4 << 20);
  becomes(cudaLimitMallocHeapSize, 10000001, 10027008);
  becomes(cudaLimitMallocHeapSize, 8 << 20, 8 << 20);
  becomes(cudaLimitDevRuntimePendingLaunchCount, 25, 32);
  becomes(cudaLimitDevRuntimePendingLaunchCount, 129, 129);
  equal(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{1} << 33),
        cudaErrorInvalidValue);
  equal(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 129),
        cudaErrorInvalidValue);
  cudaGetLastError();

  int can = -1;
  ok(cudaDeviceCanAccessPeer(&can, 0, 0));
  equal(can, 0);
  const cudaError_t itself = cudaDeviceEnablePeerAccess(0, 0);
  is_true(itself == cudaErrorPeerAccessUnsupported ||
              itself == cudaErrorInvalidDevice,
          "no device is its own peer");
  cudaGetLastError();
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    fail();
    return expect::report();
  }
  names();
  last_error();
  failed_kernel();
  attributes();
  devices();
  return expect::report();
}
