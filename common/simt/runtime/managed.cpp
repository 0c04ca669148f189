// Managed memory: allocating it, and what the program says about where its
// pages should lie. That changes nothing here, but is checked, and can be asked
// for.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "common/simt/core/device.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/batches.h"
#include "common/simt/runtime/runtime.h"

namespace simt {
namespace {

// Of some bytes. A place is a device, or cudaCpuDeviceId.
struct Advice {
  bool read_mostly = false;
  std::optional<int> preferred = {}, prefetched = {};
  std::set<int> users = {};
};

std::mutex& advice_mutex() {
  static auto* one = new std::mutex;
  return *one;
}

// By the address from which on it holds, up to the next one. It is used while
// advice_mutex() is locked.
using AllAdvice = std::map<uint64_t, Advice>;
AllAdvice& advice() {
  static auto* all = new AllAdvice{{0, {}}};
  return *all;
}

// From there on advice can be another than before.
AllAdvice::iterator split(uint64_t at) {
  const auto before = std::prev(advice().upper_bound(at));
  return advice().try_emplace(at, before->second).first;
}

struct Range {
  uint64_t begin, end;
};

template <class F>
void each_advice(const Range& range, F f) {
  const std::lock_guard lock(advice_mutex());
  const auto begin = split(range.begin), end = split(range.end);
  for (auto one = begin; one != end; ++one) f(one->second);
}

// The pages of an array that have some of the bytes.
Range pages_of(const void* pointer, size_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  const auto found = allocations().find(begin);
  require(found && !found->freed && found->is_managed(), cudaErrorInvalidValue,
          "only managed memory moves; this is ", allocations().describe(begin));
  require(bytes != 0 && bytes <= found->end - begin, cudaErrorInvalidValue,
          bytes, " bytes from ", allocations().describe(begin),
          " on are no part of it");
  const uint64_t page = sysconf(_SC_PAGESIZE);
  return {std::max(found->begin, begin / page * page),
          std::min(found->end, (begin + bytes + page - 1) / page * page)};
}

// `otherwise`: how a call refuses what is no device.
[[maybe_unused]] int place_of(cudaMemLocation location, cudaError_t otherwise) {
  if (location.type == cudaMemLocationTypeHost) return cudaCpuDeviceId;
  require(location.id >= 0 && location.id < device_count(), otherwise,
          "there is no device ", location.id);
  return location.id;
}

[[maybe_unused]] void require_place(cudaMemLocation location) {
  require(location.type == cudaMemLocationTypeHost ||
              location.type == cudaMemLocationTypeDevice,
          cudaErrorInvalidValue, "location ", int(location.type), ", ",
          location.id, " is neither the host nor a device");
}

[[maybe_unused]] bool is_about_a_place(cudaMemoryAdvise what) {
  return what != cudaMemAdviseSetReadMostly &&
         what != cudaMemAdviseUnsetReadMostly &&
         what != cudaMemAdviseUnsetPreferredLocation;
}

void advise(Advice& advice, cudaMemoryAdvise what, int place) {
  switch (what) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      advice.read_mostly = what == cudaMemAdviseSetReadMostly;
      return;
    case cudaMemAdviseSetPreferredLocation:
      advice.preferred = place;
      return;
    case cudaMemAdviseUnsetPreferredLocation:
      advice.preferred.reset();
      return;
    case cudaMemAdviseSetAccessedBy:
      advice.users.insert(place);
      return;
    case cudaMemAdviseUnsetAccessedBy:
      advice.users.erase(place);
      return;
  }
  throw Refused{cudaErrorInvalidValue, text("unknown advice ", int(what))};
}

void prefetch(const void* pointer, size_t bytes, int place,
              cudaStream_t stream) {
  require_waitable(stream);  // No capture has it.
  each_advice(pages_of(pointer, bytes),
              [&](Advice& one) { one.prefetched = place; });
}

// ---- What is asked ---------------------------------------------------------

bool is_read_mostly(const Range& range) {
  bool all = true;
  each_advice(range, [&](const Advice& one) { all &= one.read_mostly; });
  return all;
}

// The place that all of it has, if there is one.
int common_place(const Range& range, std::optional<int> Advice::*which) {
  std::set<int> places;
  each_advice(range, [&](const Advice& one) {
    places.insert((one.*which).value_or(cudaInvalidDeviceId));
  });
  return places.size() == 1 ? *places.begin() : cudaInvalidDeviceId;
}

// Those that all of it has.
std::vector<int> common_users(const Range& range) {
  std::map<int, size_t> counts;
  size_t parts = 0;
  each_advice(range, [&](const Advice& one) {
    ++parts;
    for (const int user : one.users) ++counts[user];
  });
  std::vector<int> common;
  for (const auto& [user, count] : counts)
    if (count == parts) common.push_back(user);
  return common;
}

[[maybe_unused]] cudaMemLocationType type_of(int place) {
  return place == cudaInvalidDeviceId ? cudaMemLocationTypeInvalid
         : place == cudaCpuDeviceId   ? cudaMemLocationTypeHost
                                      : cudaMemLocationTypeDevice;
}

int answer_of(cudaMemRangeAttribute which, const Range& range) {
  switch (which) {
    case cudaMemRangeAttributeReadMostly:
      return is_read_mostly(range);
    case cudaMemRangeAttributePreferredLocation:
      return common_place(range, &Advice::preferred);
    case cudaMemRangeAttributeLastPrefetchLocation:
      return common_place(range, &Advice::prefetched);
#if CUDART_VERSION >= 13000
    case cudaMemRangeAttributePreferredLocationType:
      return type_of(common_place(range, &Advice::preferred));
    case cudaMemRangeAttributePreferredLocationId:
      return common_place(range, &Advice::preferred);
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return type_of(common_place(range, &Advice::prefetched));
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return common_place(range, &Advice::prefetched);
#endif
    default:
      throw Refused{cudaErrorInvalidValue,
                    text("unknown attribute ", int(which))};
  }
}

void get_attribute(void* data, size_t bytes, cudaMemRangeAttribute which,
                   const Range& range) {
  const bool is_list = which == cudaMemRangeAttributeAccessedBy;
  require(data != nullptr && bytes != 0 && bytes % sizeof(int) == 0 &&
              (is_list || bytes == sizeof(int)),
          cudaErrorInvalidValue, "data is null, or has ", bytes, " bytes");
  std::vector<int> answers =
      is_list ? common_users(range) : std::vector{answer_of(which, range)};
  answers.resize(bytes / sizeof(int), cudaInvalidDeviceId);
  std::ranges::copy(answers, static_cast<int*>(data));
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return answer([&] {
    require(bytes == 0 || flags == cudaMemAttachGlobal ||
                flags == cudaMemAttachHost,
            cudaErrorInvalidValue, "unknown flags ", flags);
    begin_allocation(pointer, bytes);
    *pointer = allocate(bytes, Memory::kManaged, "cudaMallocManaged");
    const auto begin = reinterpret_cast<uint64_t>(*pointer);
    each_advice({begin, begin + bytes},
                [](Advice& of_before) { of_before = {}; });
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes,
                                     cudaMemRangeAttribute which,
                                     const void* pointer, size_t bytes) {
  return answer([&] {
    get_attribute(data, data_bytes, which, pages_of(pointer, bytes));
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes,
                                      cudaMemRangeAttribute* which,
                                      size_t count, const void* pointer,
                                      size_t bytes) {
  return answer([&] {
    require(data != nullptr && data_bytes != nullptr && which != nullptr &&
                count != 0,
            cudaErrorInvalidValue, "an array is null, or empty");
    const Range range = pages_of(pointer, bytes);
    for (size_t i = 0; i < count; ++i)
      get_attribute(data[i], data_bytes[i], which[i], range);
  });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes,
                                 cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return answer([&] {
    require(flags == 0, cudaErrorInvalidValue, "unknown flags ", flags);
    require_place(location);
    require_waitable(stream);  // No capture has it.
    require(bytes != 0, cudaErrorInvalidValue, "there is nothing to move");
    prefetch(pointer, bytes, place_of(location, cudaErrorInvalidDevice),
             stream);
  });
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* bytes,
                                      size_t count, cudaMemLocation* places,
                                      size_t* begins, size_t entries,
                                      unsigned long long flags,
                                      cudaStream_t stream) {
  return answer([&] {
    require(pointers != nullptr && bytes != nullptr && places != nullptr &&
                count != 0,
            cudaErrorInvalidValue, "an array is null, or empty");
    require(flags == 0, cudaErrorInvalidValue, "unknown flags ", flags);
    require(!is_legacy(stream), cudaErrorInvalidValue,
            "a batch wants another stream than the legacy one");
    const Entries which(begins, entries, count);
    for (size_t i = 0; i < count; ++i) {
      const cudaMemLocation& place = places[which.of(i)];
      require_place(place);
      prefetch(pointers[i], bytes[i], place_of(place, cudaErrorInvalidDevice),
               stream);
    }
  });
}

// Nobody may rely on what it holds afterwards; here that is what it held.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* bytes,
                                     size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return answer([&] {
    require(pointers != nullptr && bytes != nullptr && count != 0 && flags == 0,
            cudaErrorInvalidValue,
            "an array is null, or empty, or flags are not 0");
    require(!is_legacy(stream), cudaErrorInvalidValue,
            "a batch wants another stream than the legacy one");
    require_waitable(stream);
    for (size_t i = 0; i < count; ++i) pages_of(pointers[i], bytes[i]);
  });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* bytes,
                                                size_t count,
                                                cudaMemLocation* places,
                                                size_t* begins, size_t entries,
                                                unsigned long long flags,
                                                cudaStream_t stream) {
  const cudaError_t error =
      cudaMemDiscardBatchAsync(pointers, bytes, count, flags, stream);
  if (error != cudaSuccess) return error;
  return cudaMemPrefetchBatchAsync(pointers, bytes, count, places, begins,
                                   entries, flags, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes,
                          cudaMemoryAdvise what, cudaMemLocation location) {
  return answer([&] {
    require_place(location);
    require_safe();
    if (!is_about_a_place(what)) location.id = 0;  // Nobody looks at it.
    const int place = place_of(location, cudaErrorInvalidValue);
    each_advice(pages_of(pointer, bytes),
                [&](Advice& one) { advise(one, what, place); });
  });
}

#else

}  // extern "C"

// Older toolkits give a place as a bare number.
static int place_of(int device) {
  if (device != cudaCpuDeviceId) require_device(device);
  return device;
}

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
  return answer([&] { prefetch(pointer, bytes, place_of(device), stream); });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes,
                          cudaMemoryAdvise what, int device) {
  return answer([&] {
    const int place = place_of(device);
    each_advice(pages_of(pointer, bytes),
                [&](Advice& one) { advise(one, what, place); });
  });
}

#endif

}  // extern "C"
