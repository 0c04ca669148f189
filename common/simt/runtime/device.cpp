// The devices: all are the same model of a GPU, and each thread has its current
// one.
#include "common/simt/core/device.h"

#include <algorithm>
#include <vector>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

thread_local int current = 0;

// What an H200 answers, until the program sets others. Only the device heap's
// and that of tail launches are enforced: the executor's stacks and printf grow
// as they need to.
using Limits = std::map<cudaLimit, size_t>;
const Limits& first_limits() {
  static const auto* all =
      new Limits{{cudaLimitStackSize, 1024},
                 {cudaLimitPrintfFifoSize, 8650752},
                 {cudaLimitMallocHeapSize, 8 << 20},
                 {cudaLimitDevRuntimePendingLaunchCount, 2048},
                 {cudaLimitMaxL2FetchGranularity, 64},
                 {cudaLimitPersistingL2CacheSize, 11796480}};
  return *all;
}
Limits& limits() {
  static auto* all = new std::vector<Limits>(device_count(), first_limits());
  return (*all)[current];
}

size_t& limit(cudaLimit which) {
  const auto found = limits().find(which);
  require(which >= 0 && which <= cudaLimitPersistingL2CacheSize,
          cudaErrorInvalidValue, "there is no limit ", int(which));
  require(found != limits().end(), cudaErrorUnsupportedLimit, "limit ",
          int(which), " means nothing to the CPU executor");
  return found->second;
}

// A hint, which stays what the program gave.
void set_fetch_granularity(size_t bytes) {
  constexpr size_t kMost = 128;
  require(bytes <= kMost, cudaErrorInvalidValue, "fetches of ", bytes,
          " bytes; at most ", kMost);
  limits()[cudaLimitMaxL2FetchGranularity] = bytes;
}

size_t most_persisting() {
  return attribute(model_device(), cudaDevAttrMaxPersistingL2CacheSize)
      .value_or(0);
}

// What an H100 makes of a limit: whole units, at least and at most so many.
size_t settled(cudaLimit which, size_t value) {
  const auto within = [value](size_t least, size_t unit, size_t most) {
    return (std::clamp(value, least, most) + unit - 1) / unit * unit;
  };
  switch (which) {
    case cudaLimitStackSize:
      return within(0, 16, 512 << 10);
    case cudaLimitPrintfFifoSize:
      return within(512 << 10, 64, size_t{1} << 31);
    case cudaLimitMallocHeapSize:
      return within(4 << 20, 64 << 10, model_device().global_bytes);
    case cudaLimitDevRuntimePendingLaunchCount:
      return within(32, 1, SIZE_MAX);
    case cudaLimitPersistingL2CacheSize:  // A tenth of the most, or several.
      return within(0, std::max<size_t>(most_persisting() / 10, 1), SIZE_MAX);
    default:
      return value;
  }
}

void require_limit(cudaLimit which, size_t value) {
  constexpr size_t kLocal = 512 << 10;  // bytes of a thread's local memory
  require(which != cudaLimitStackSize || value < kLocal, cudaErrorInvalidValue,
          "stacks of ", value, " bytes; a thread has ", kLocal,
          " bytes of local memory");
  require(which != cudaLimitPersistingL2CacheSize || value <= most_persisting(),
          cudaErrorInvalidValue, value, " bytes in the L2 cache; at most ",
          most_persisting());
}

void require_other(int peer) {
  require(peer != current, cudaErrorPeerAccessUnsupported, "device ", peer,
          " is the current one, and no peer of its own");
}

}  // namespace

int current_device() { return current; }

void set_current_device(int device) { current = device; }

void require_device(int device) {
  const int count = device_count();
  require(device >= 0 && device < count, cudaErrorInvalidDevice, "device ",
          device, "; the CPU executor is ",
          count == 1 ? "one device, 0" : text("devices 0 to ", count - 1),
          "; SIMT_DEVICES says how many");
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return answer_apart([&] {
    require(count != nullptr, cudaErrorInvalidValue, "count is null");
    *count = device_count();
  });
}

cudaError_t cudaGetDevice(int* device) {
  return answer_apart([&] {
    require(device != nullptr, cudaErrorInvalidValue, "device is null");
    *device = current;
  });
}

cudaError_t cudaSetDevice(int device) {
  return answer_apart([&] {
    require_device(device);
    current = device;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return answer([] {
    require_all_waitable();
    await_device(current);
  });
}

// Frees all memory of the current device, which must have been freed by now to
// count as such. Variables and limits are what they were at the beginning, but
// for managed variables, which stay (seen on an H100). What streams and events
// there are stays usable. After a failed kernel nothing helps: the process has
// no device any more.
cudaError_t cudaDeviceReset() {
  return answer_apart([] {
    if (sticky_error()) return set_sticky_error(cudaErrorDevicesUnavailable);
    await_device(current);
    report_leaks(current);
    allocations().release_all(current);
    forget_modules(current);
    limits() = first_limits();
    allocations().limit_heap(current, limit(cudaLimitMallocHeapSize));
    for (int peer = 0; peer < device_count(); ++peer)
      peers().forbid(current, peer);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which,
                                   int device) {
  return answer_apart([&] {
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
  return answer_apart([&] {
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
    require_safe();
    if (which == cudaLimitMaxL2FetchGranularity)
      return set_fetch_granularity(value);
    require_limit(which, value);
    limit(which) = settled(which, value);
    if (which == cudaLimitMallocHeapSize)
      allocations().limit_heap(current, limit(which));
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

// ---- Peers: every device is every other's ----------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer([&] {
    require(can != nullptr, cudaErrorInvalidValue, "canAccessPeer is null");
    require_device(device);
    require_device(peer);
    *can = device != peer;
  });
}

// All links are as good as those between H200s in one machine.
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr which,
                                      int device, int peer) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "value is null");
    require_device(device);
    require_device(peer);
    require(device != peer, cudaErrorInvalidDevice, "device ", device,
            " has no link to itself");
    switch (which) {
      case cudaDevP2PAttrPerformanceRank:  // 0 is the best
        *value = 0;
        return;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 1;
        return;
      default:
        throw Lacking{text("attribute ", int(which), " of a link")};
    }
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return answer([&] {
    require_device(peer);
    require(flags == 0, cudaErrorInvalidValue, "flags are ", flags, ", not 0");
    require_other(peer);
    // Programs ask without looking, and pass over this.
    require(peers().allow(current, peer), cudaErrorPeerAccessAlreadyEnabled,
            "");
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer([&] {
    require_device(peer);
    require_safe();
    await_device(current);
    require(peers().forbid(current, peer), cudaErrorPeerAccessNotEnabled,
            "device ", current, " may not access device ", peer, " anyway");
  });
}

}  // extern "C"
