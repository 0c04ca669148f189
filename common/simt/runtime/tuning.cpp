// Calls that only tune a GPU or watch it: caches, schedules, profilers, where
// memory lies. Their arguments are checked as CUDA checks them, and what they
// set can be asked for; nothing else comes of them.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstdio>

#include "common/simt/core/device.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// The model devices are on no bus, but each has a number.
std::string bus_id(int device) {
  char id[] = "0000:00:00.0";
  std::snprintf(id, sizeof id, "0000:%02x:00.0", device & 0xff);
  return id;
}

unsigned device_flags = cudaDeviceScheduleAuto;
constexpr unsigned kUnused = 32;  // CUDA takes it, and forgets it.
cudaFuncCache cache_preference = cudaFuncCachePreferNone;

void require_flags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  require((flags & ~unsigned(cudaDeviceMask)) == 0 &&
              (schedule & (schedule - 1)) == 0,
          cudaErrorInvalidValue, "unknown flags ", flags);
}

void require_preference(cudaFuncCache preference) {
  require(preference >= cudaFuncCachePreferNone &&
              preference <= cudaFuncCachePreferEqual,
          cudaErrorInvalidValue, "unknown preference ", int(preference));
}

void require_banks(cudaSharedMemConfig config) {
  require(config >= cudaSharedMemBankSizeDefault &&
              config <= cudaSharedMemBankSizeEightByte,
          cudaErrorInvalidValue, "unknown size of banks ", int(config));
}

// What has only been remembered of a stream, by its identity.
using Attributes = std::map<int, cudaLaunchAttributeValue>;
std::map<uint64_t, Attributes>& stream_attributes() {
  static auto* all = new std::map<uint64_t, Attributes>;
  return *all;
}

uint64_t identity(cudaStream_t stream) {
  require_usable(stream);
  if (is_legacy(stream)) return 1;
  const uint64_t handle = reinterpret_cast<uint64_t>(stream);  // 2, or large
  return stream == cudaStreamPerThread ? handle + number_of_thread() : handle;
}

void require_stream_attribute(cudaLaunchAttributeID which) {
  switch (which) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
      return;
    default:
      throw Refused{cudaErrorInvalidValue,
                    text("attribute ", int(which), " is not one of a stream")};
  }
}

void require_window(const cudaAccessPolicyWindow& window) {
  const auto most =
      attribute(model_device(), cudaDevAttrMaxAccessPolicyWindowSize);
  require(window.hitRatio >= 0 && window.hitRatio <= 1, cudaErrorInvalidValue,
          "hitRatio is not between 0 and 1");
  require(window.missProp != cudaAccessPropertyPersisting,
          cudaErrorInvalidValue, "missProp is cudaAccessPropertyPersisting");
  require(!most || window.num_bytes <= size_t(*most), cudaErrorInvalidValue,
          "a window of ", window.num_bytes, " bytes; at most ",
          most.value_or(0));
}

void set_stream_attribute(cudaStream_t stream, cudaLaunchAttributeID which,
                          const cudaLaunchAttributeValue& value) {
  require_stream_attribute(which);
  require_usable(stream);
  if (which == cudaLaunchAttributeAccessPolicyWindow)
    require_window(value.accessPolicyWindow);
  require(which != cudaLaunchAttributeSynchronizationPolicy ||
              (value.syncPolicy >= cudaSyncPolicyAuto &&
               value.syncPolicy <= cudaSyncPolicyBlockingSync),
          cudaErrorInvalidValue, "unknown policy ", int(value.syncPolicy));
  require(are_domains(which, value), cudaErrorInvalidValue, "no such domain");
  if (which == cudaLaunchAttributePriority)
    return set_priority(stream, value.priority);
  stream_attributes()[identity(stream)][which] = value;
}

cudaLaunchAttributeValue stream_attribute(cudaStream_t stream,
                                          cudaLaunchAttributeID which) {
  const Attributes& set = stream_attributes()[identity(stream)];
  const auto found = set.find(which);
  if (found != set.end()) return found->second;
  cudaLaunchAttributeValue value = {};
  if (which == cudaLaunchAttributeSynchronizationPolicy) {
    value.syncPolicy = cudaSyncPolicyAuto;
  } else if (which == cudaLaunchAttributePriority) {
    cudaStreamGetPriority(stream, &value.priority);
  } else if (which == cudaLaunchAttributeMemSyncDomainMap) {
    value.memSyncDomainMap = {0, 1};
  }
  return value;
}

}  // namespace

cudaFuncCache device_cache_preference() { return cache_preference; }

bool are_domains(cudaLaunchAttributeID which,
                 const cudaLaunchAttributeValue& value) {
  constexpr int kDomains = 4;  // cudaDevAttrMemSyncDomainCount
  const auto& map = value.memSyncDomainMap;
  switch (which) {
    case cudaLaunchAttributeMemSyncDomain:
      return unsigned(value.memSyncDomain) <= cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeMemSyncDomainMap:
      return map.default_ < kDomains && map.remote < kDomains;
    default:
      return true;
  }
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Watching --------------------------------------------------------------

cudaError_t cudaProfilerStart() {
  return answer([] {});
}

cudaError_t cudaProfilerStop() {
  return answer([] {});
}

// ---- The device ------------------------------------------------------------

// Spinning, yielding, blocking: there is never anything to wait for.
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return answer([&] {
    require_flags(flags);
    device_flags = flags & ~kUnused;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return answer([&] {
    require(flags != nullptr, cudaErrorInvalidValue, "flags is null");
    *flags = device_flags | cudaDeviceMapHost;  // all device memory is mapped
  });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return answer([&] {
    require_device(device);
    require_flags(device_flags);
    require(flags <= cudaInitDeviceFlagsAreValid, cudaErrorInvalidValue,
            "unknown flags ", flags);
    if (flags != 0) simt::device_flags = device_flags;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return answer([&] {
    require(device != nullptr && wanted != nullptr, cudaErrorInvalidValue,
            "device or prop is null");
    *device = 0;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return answer([&] {
    require(count >= 0, cudaErrorInvalidValue, "len is ", count);
    require(count == 0 || devices != nullptr, cudaErrorInvalidValue,
            "device_arr is null");
    std::for_each(devices, devices + count, require_device);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  return answer([&] {
    require(id != nullptr, cudaErrorInvalidValue, "pciBusId is null");
    require_device(device);
    const std::string answer = bus_id(device);
    require(bytes > int(answer.size()), cudaErrorInvalidValue,
            "the answer takes ", answer.size() + 1, " bytes");
    std::snprintf(id, bytes, "%s", answer.c_str());
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return answer([&] {
    require(device != nullptr && id != nullptr, cudaErrorInvalidValue,
            "device or pciBusId is null");
    unsigned part[3];
    require(std::sscanf(id, "%x:%x:%x", part, part + 1, part + 2) == 3 ||
                std::sscanf(id, "%x:%x.%x", part, part + 1, part + 2) == 3,
            cudaErrorInvalidValue, '"', id, "\" is not written as \"",
            bus_id(0), '"');
    int found = 0;
    while (found < device_count() && bus_id(found) != id) ++found;
    require(found < device_count(), cudaErrorInvalidDevice, '"', id,
            "\" is no device; the CPU executor's first is \"", bus_id(0), '"');
    *device = found;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) {
  return answer([&] {
    require_safe();
    require_preference(preference);
    cache_preference = preference;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
  return answer([&] {
    require(preference != nullptr, cudaErrorInvalidValue,
            "pCacheConfig is null");
    *preference = cache_preference;
  });
}

// Banks have had 4 bytes since Maxwell, whatever is asked for.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return answer([&] { require_banks(config); });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return answer([&] {
    require(config != nullptr, cudaErrorInvalidValue, "pConfig is null");
    *config = cudaSharedMemBankSizeFourByte;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return answer([] {});
}

// ---- Functions -------------------------------------------------------------

cudaError_t cudaFuncSetCacheConfig(const void* function,
                                   cudaFuncCache preference) {
  return answer([&] {
    Entry& entry = find_entry(function);
    require_preference(preference);
    entry.cache[current_device()] = preference;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function,
                                       cudaSharedMemConfig config) {
  return answer([&] {
    find_entry(function);
    require_banks(config);
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return answer([&] {
    require(name != nullptr, cudaErrorInvalidValue, "name is null");
    *name = find_entry(function).mangled.c_str();
  });
}

// ---- Streams ---------------------------------------------------------------

cudaError_t cudaStreamGetAttribute(cudaStream_t stream,
                                   cudaLaunchAttributeID which,
                                   cudaLaunchAttributeValue* value) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "value_out is null");
    require_usable(stream);
    require_stream_attribute(which);
    *value = stream_attribute(stream, which);
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream,
                                   cudaLaunchAttributeID which,
                                   const cudaLaunchAttributeValue* value) {
  return answer([&] {
    require(value != nullptr, cudaErrorInvalidValue, "value is null");
    set_stream_attribute(stream, which, *value);
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return answer([&] {
    const Attributes copy = stream_attributes()[identity(from)];
    stream_attributes()[identity(to)] = copy;
    int priority = 0;
    cudaStreamGetPriority(from, &priority);
    set_priority(to, priority);
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return answer([&] {
    require(id != nullptr, cudaErrorInvalidValue, "streamId is null");
    *id = identity(stream);
  });
}

#if CUDART_VERSION >= 12080
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return answer([&] {
    require(device != nullptr, cudaErrorInvalidValue, "device is null");
    *device = queue_of(stream).device;
  });
}
#endif

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer,
                                     size_t bytes, unsigned flags) {
  return answer([&] {
    require_waitable(stream);  // No capture has it.
    require_safe();
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
                flags == cudaMemAttachSingle,
            cudaErrorInvalidValue, "unknown flags ", flags);
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const auto found = allocations().find(address);
    require(found && !found->freed && found->is_managed(),
            cudaErrorInvalidValue, pointer, " is not managed memory, but ",
            allocations().describe(address));
    require(address == found->begin && (bytes == 0 || bytes == found->bytes()),
            cudaErrorInvalidValue, bytes, " bytes from ",
            allocations().describe(address), " on are not all of it");
    require(flags != cudaMemAttachSingle || !is_legacy(stream),
            cudaErrorInvalidValue,
            "memory cannot be attached to the legacy default stream alone");
  });
}

// ---- Names of CUDA 11 and 12 for the same ----------------------------------

#if CUDART_VERSION < 13000
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSetLimit(cudaLimit which, size_t value) {
  return cudaDeviceSetLimit(which, value);
}
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit which) {
  return cudaDeviceGetLimit(value, which);
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache preference) {
  return cudaDeviceSetCacheConfig(preference);
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* preference) {
  return cudaDeviceGetCacheConfig(preference);
}
#endif

}  // extern "C"
