// Errors and the device: names and sentences, the last error of each thread,
// attributes that agree with the properties, codes for devices that are not
// there.

#include <cstring>
#include <string>
#include <thread>

#include "tests/simt/expect.h"

namespace {

using expect::equal;
using expect::is_true;
using expect::ok;

__global__ void nothing_kernel() {}

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

  int value = 0;
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

int main() {
  names();
  last_error();
  attributes();
  devices();
  return expect::report();
}
