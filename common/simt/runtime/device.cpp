// The device: there is one, a model of a GPU, and it is always current.
#include "common/simt/core/device.h"

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// What an H200 answers, until the program sets others. Only the device heap's
// is enforced: the executor's stacks and printf grow as they need to.
std::map<cudaLimit, size_t>& limits() {
  static auto* all = new std::map<cudaLimit, size_t>{
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, 8650752},
      {cudaLimitMallocHeapSize, 8 << 20},
      {cudaLimitPersistingL2CacheSize, 11796480}};
  return *all;
}

size_t& limit(cudaLimit which) {
  const auto found = limits().find(which);
  if (which == cudaLimitMaxL2FetchGranularity ||
      which == cudaLimitDevRuntimePendingLaunchCount) {
    throw Lacking{text("limit ", int(which))};
  }
  require(found != limits().end(), cudaErrorUnsupportedLimit, "limit ",
          int(which), " means nothing to the CPU executor");
  return found->second;
}

}  // namespace

void require_device(int device) {
  require(device == 0, cudaErrorInvalidDevice, "device ", device,
          "; the CPU executor is one device, 0");
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return answer([&] {
    require(count != nullptr, cudaErrorInvalidValue, "count is null");
    *count = 1;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return answer([&] {
    require(device != nullptr, cudaErrorInvalidValue, "device is null");
    *device = 0;
  });
}

cudaError_t cudaSetDevice(int device) {
  return answer([&] { require_device(device); });
}

cudaError_t cudaDeviceSynchronize() {
  return answer([] { require_all_waitable(); });
}

// Frees all memory, which must have been freed by now to count as such. What
// variables, streams and events there are stays usable.
cudaError_t cudaDeviceReset() {
  return answer([] {
    report_leaks();
    allocations().release_all();
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which,
                                   int device) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "value is null");
    require_device(device);
    require(which > 0 && which < cudaDevAttrMax, cudaErrorInvalidValue,
            "attribute ", int(which), " does not exist");
    const auto known = attribute(model_device(), which);
    if (!known) {
      throw Lacking{
          text("attribute ", int(which), " of ", model_device().name)};
    }
    *value = *known;
  });
}

// Fields that are not known are 0.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* answered, int device) {
  return answer([&] {
    require(answered != nullptr, cudaErrorInvalidValue, "prop is null");
    require_device(device);
    *answered = properties(model_device());
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit which) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "pValue is null");
    *value = limit(which);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit which, size_t value) {
  return answer([&] {
    limit(which) = value;
    if (which == cudaLimitMallocHeapSize) allocations().limit_heap(value);
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return answer_always([&] {
    require(version != nullptr, cudaErrorInvalidValue, "version is null");
    *version = CUDART_VERSION;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

// ---- Peers: a device alone has none ----------------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer([&] {
    require(can != nullptr, cudaErrorInvalidValue, "canAccessPeer is null");
    require_device(device);
    require_device(peer);
    *can = 0;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return answer([&] {
    throw Refused{cudaErrorPeerAccessUnsupported,
                  text("device ", peer, " is no peer")};
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer([&] {
    throw Refused{cudaErrorPeerAccessNotEnabled,
                  text("device ", peer, " is no peer")};
  });
}

}  // extern "C"
