// Memory pools, and what is allocated from them in the order of a stream. They
// keep no memory: what is freed is the device's again, whatever a pool is told
// of how much it should keep. What they say that they have reserved is what
// they would have kept.
#include <map>

#include "common/simt/core/device.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"

namespace simt {
namespace {

struct Pool {
  int device = 0;
  size_t limit = SIZE_MAX;  // bytes
  std::map<cudaMemPoolAttr, uint64_t> attributes = {
      {cudaMemPoolReuseFollowEventDependencies, 1},
      {cudaMemPoolReuseAllowOpportunistic, 1},
      {cudaMemPoolReuseAllowInternalDependencies, 1},
      {cudaMemPoolAttrReleaseThreshold, 0},
      {cudaMemPoolAttrReservedMemCurrent, 0},
      {cudaMemPoolAttrReservedMemHigh, 0},
      {cudaMemPoolAttrUsedMemCurrent, 0},
      {cudaMemPoolAttrUsedMemHigh, 0}};
};

std::recursive_mutex& pools_mutex() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

// By handle. All that follows is used while pools_mutex() is locked.
using Pools = Handles<cudaMemPool_t, std::shared_ptr<Pool>>;
Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

// Of each device: the pool that it has from the start, and the one in use.
struct OfDevice {
  cudaMemPool_t own, current;
};
OfDevice& of_device(int device) {
  static auto* all = new std::map<int, OfDevice>;
  const auto [found, is_new] = all->try_emplace(device);
  if (is_new) {
    const auto own = pools().create(std::make_shared<Pool>(Pool{device}));
    found->second = {own, own};
  }
  return found->second;
}

// Every device's own is there before the program asks for it.
std::shared_ptr<Pool> get(cudaMemPool_t handle) {
  for (int k = 0; k < device_count(); ++k) of_device(k);
  const auto found = pools().find(handle);
  require(found.has_value(), cudaErrorInvalidValue, handle,
          " is no memory pool, or one that was destroyed");
  return *found;
}

uint64_t number_of(cudaMemPool_t pool) {
  return reinterpret_cast<uint64_t>(pool);
}

bool is_own(cudaMemPool_t pool) {
  for (int k = 0; k < device_count(); ++k)
    if (of_device(k).own == pool) return true;
  return false;
}

// Runs the body of a call about pools.
cudaError_t about_pools(Body body, const char* call = __builtin_FUNCTION()) {
  return answer(
      [&] {
        const std::lock_guard lock(pools_mutex());
        body();
      },
      call);
}

// The same for what no capture may see.
cudaError_t change_pools(Body body, const char* call = __builtin_FUNCTION()) {
  return about_pools(
      [&] {
        require_safe();
        body();
      },
      call);
}

// The first three are an int, all others 64 bits.
bool is_int(cudaMemPoolAttr which) {
  return which <= cudaMemPoolReuseAllowInternalDependencies;
}

uint64_t& attribute(Pool& pool, cudaMemPoolAttr which, const void* value) {
  require(value != nullptr, cudaErrorInvalidValue, "value is null");
  const auto found = pool.attributes.find(which);
  require(found != pool.attributes.end(), cudaErrorInvalidValue, "attribute ",
          int(which), " is not one of a memory pool");
  return found->second;
}

// Of which it is the most that there has been.
std::optional<cudaMemPoolAttr> current_of(cudaMemPoolAttr high) {
  if (high == cudaMemPoolAttrUsedMemHigh) return cudaMemPoolAttrUsedMemCurrent;
  if (high == cudaMemPoolAttrReservedMemHigh)
    return cudaMemPoolAttrReservedMemCurrent;
  return std::nullopt;
}

void set_attribute(Pool& pool, cudaMemPoolAttr which, const void* value) {
  uint64_t& old = attribute(pool, which, value);
  const uint64_t given = is_int(which) ? *static_cast<const int*>(value) != 0
                                       : *static_cast<const uint64_t*>(value);
  require(which != cudaMemPoolAttrUsedMemCurrent &&
              which != cudaMemPoolAttrReservedMemCurrent,
          cudaErrorInvalidValue, "what is in use or reserved cannot be set");
  const auto current = current_of(which);
  require(!current || given == 0, cudaErrorInvalidValue,
          "the most that there was is only set to 0");
  old = current ? pool.attributes[*current] : given;
}

void get_attribute(Pool& pool, cudaMemPoolAttr which, void* value) {
  const uint64_t known = attribute(pool, which, value);
  if (which == cudaMemPoolAttrReservedMemCurrent ||
      which == cudaMemPoolAttrReservedMemHigh)
    say("what a memory pool has reserved is counted in the bytes that were "
        "asked for; a GPU reserves more, in large pieces");
  if (is_int(which))
    *static_cast<int*>(value) = int(known);
  else
    *static_cast<uint64_t*>(value) = known;
}

// Pools refuse what is no device as any other wrong argument.
void require_own_device(int device) {
  require(device >= 0 && device < device_count(), cudaErrorInvalidValue,
          "there is no device ", device);
}

void require_device_location(const cudaMemLocation& location) {
  require(location.type == cudaMemLocationTypeDevice, cudaErrorInvalidValue,
          "location.type should be cudaMemLocationTypeDevice");
  require_own_device(location.id);
}

#if CUDART_VERSION >= 13000
// Whose memory such a pool is of.
int device_of(const cudaMemLocation* location, cudaMemAllocationType type) {
  require(location != nullptr && type != cudaMemAllocationTypeInvalid,
          cudaErrorInvalidValue, "location is null, or type none");
  if (type != cudaMemAllocationTypePinned ||
      location->type != cudaMemLocationTypeDevice)
    throw Lacking{"memory pool but those of devices' own memory"};
  require_own_device(location->id);
  return location->id;
}
#endif

// It is the one in use from now on.
void choose(int device, cudaMemPool_t pool) {
  require_own_device(device);
  require(get(pool)->device == device, cudaErrorInvalidValue,
          "the pool is device ", get(pool)->device, "'s");
  of_device(device).current = pool;
}

// CUDA 12.0 and 12.1 have no such limit.
template <class Properties>
size_t most_of(const Properties& given) {
  if constexpr (requires { given.maxSize; })
    if (given.maxSize) return given.maxSize;
  return SIZE_MAX;
}

std::shared_ptr<Pool> made_as(const cudaMemPoolProps& given) {
  constexpr unsigned kShared =
      cudaMemHandleTypePosixFileDescriptor | 8;  // cudaMemHandleTypeFabric
  require((given.handleTypes & ~kShared) == 0, cudaErrorInvalidValue,
          "handles of the type ", int(given.handleTypes));
  if (given.location.type == 2)  // cudaMemLocationTypeHost
    throw Lacking{"memory pool but those of devices' own memory"};
  require(given.allocType == cudaMemAllocationTypePinned, cudaErrorInvalidValue,
          "allocType should be cudaMemAllocationTypePinned");
  require_device_location(given.location);
  return std::make_shared<Pool>(Pool{given.location.id, most_of(given)});
}

void set_access(cudaMemPool_t handle, const cudaMemAccessDesc& given) {
  require(given.location.type != 2 &&  // cudaMemLocationTypeHost
              given.flags != cudaMemAccessFlagsProtRead,
          cudaErrorNotSupported, "access is a device's, to read and to write");
  require_device(given.location.id);
  require_device_location(given.location);
  const auto pool = get(handle);
  const bool may = given.flags == cudaMemAccessFlagsProtReadWrite;
  require(may || given.flags == cudaMemAccessFlagsProtNone,
          cudaErrorInvalidValue,
          "flags should be cudaMemAccessFlagsProtReadWrite or ...ProtNone");
  require(may || given.location.id != pool->device, cudaErrorInvalidDevice,
          "a pool's own device always has access");
  peers().allow_pool(number_of(handle), given.location.id, may);
}

// Keeps what is in use, and otherwise so many bytes at most.
void release_reserved(Pool& pool, uint64_t most) {
  uint64_t& reserved = pool.attributes[cudaMemPoolAttrReservedMemCurrent];
  reserved = std::max(pool.attributes[cudaMemPoolAttrUsedMemCurrent],
                      std::min(reserved, most));
}

void* take(cudaMemPool_t handle, size_t bytes) {
  Pool& pool = *get(handle);
  uint64_t& used = pool.attributes[cudaMemPoolAttrUsedMemCurrent];
  require(bytes <= pool.limit && used <= pool.limit - bytes,
          cudaErrorMemoryAllocation, bytes,
          " bytes do not fit the pool: ", used, " of ", pool.limit,
          " are in use");
  void* const taken = allocate(bytes, Memory::kPool, "cudaMallocAsync",
                               pool.device, number_of(handle));
  used += bytes;
  uint64_t& reserved = pool.attributes[cudaMemPoolAttrReservedMemCurrent];
  reserved = std::max(reserved, used);
  for (const auto high :
       {cudaMemPoolAttrUsedMemHigh, cudaMemPoolAttrReservedMemHigh})
    pool.attributes[high] =
        std::max(pool.attributes[high], pool.attributes[*current_of(high)]);
  return taken;
}

void allocate_in_stream(void** pointer, size_t bytes,
                        std::optional<cudaMemPool_t> pool,
                        cudaStream_t stream) {
  const Queue queue = queue_of(stream);
  void* const taken =
      take(pool ? *pool : of_device(queue.device).current, bytes);
  *pointer = taken;
  const auto operation = begin_operation(queue, {"cudaMallocAsync"});
  do_operation(operation, [=] {
    note_touched(taken, bytes, Use::kStore, {}, "allocates");
  });
}

// From the stream's device's current pool where no other is named.
void allocate_async(void** pointer, size_t bytes,
                    std::optional<cudaMemPool_t> pool, cudaStream_t stream) {
  require(pointer != nullptr, cudaErrorInvalidValue, "devPtr is null");
  *pointer = nullptr;  // also where it fails
  require_usable(stream);
  if (!is_capturing(stream)) require_safe();
  if (pool) get(*pool);
  if (bytes == 0) return;
  if (is_capturing(stream))
    return issue(stream, allocation_work(bytes, pointer));
  allocate_in_stream(pointer, bytes, pool, stream);
}

}  // namespace

void note_returned(uint64_t number, size_t bytes) {
  const std::lock_guard lock(pools_mutex());
  const auto found = pools().find(reinterpret_cast<cudaMemPool_t>(number));
  if (!found) return;
  Pool& pool = **found;
  pool.attributes[cudaMemPoolAttrUsedMemCurrent] -= bytes;
  release_reserved(pool, pool.attributes[cudaMemPoolAttrReleaseThreshold]);
}

}  // namespace simt

using namespace simt;

extern "C" {

// ---- Pools -----------------------------------------------------------------

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return about_pools([&] {
    require(pool != nullptr, cudaErrorInvalidValue, "memPool is null");
    require_device(device);
    *pool = of_device(device).own;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return about_pools([&] {
    require(pool != nullptr, cudaErrorInvalidValue, "memPool is null");
    require_device(device);
    *pool = of_device(device).current;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return change_pools([&] { choose(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool,
                              const cudaMemPoolProps* given) {
  return change_pools([&] {
    require(pool != nullptr && given != nullptr, cudaErrorInvalidValue,
            "memPool or poolProps is null");
    *pool = pools().create(made_as(*given));
  });
}

// What it has given stays, until it is freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return change_pools([&] {
    OfDevice& of = of_device(get(pool)->device);
    require(!is_own(pool), cudaErrorInvalidValue,
            "a device's own pool stays as long as the device");
    if (of.current == pool) of.current = of.own;
    pools().destroy(pool);
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  return change_pools([&] { release_reserved(*get(pool), bytes); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which,
                                    void* value) {
  return change_pools([&] { set_attribute(*get(pool), which, value); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which,
                                    void* value) {
  return change_pools([&] { get_attribute(*get(pool), which, value); });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool,
                                     cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return about_pools([&] {
    require(pool != nullptr, cudaErrorInvalidValue, "memPool is null");
    *pool = of_device(device_of(location, type)).own;
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return about_pools([&] {
    require(pool != nullptr, cudaErrorInvalidValue, "memPool is null");
    *pool = of_device(device_of(location, type)).current;
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location,
                              cudaMemAllocationType type, cudaMemPool_t pool) {
  return about_pools([&] { choose(device_of(location, type), pool); });
}

#endif

// ---- Whose kernels may touch what is from a pool ---------------------------

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                 const cudaMemAccessDesc* given, size_t count) {
  return about_pools([&] {
    get(pool);
    require(count == 0 || given != nullptr, cudaErrorInvalidValue,
            "descList is null");
    for (size_t i = 0; i < count; ++i) set_access(pool, given[i]);
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return about_pools([&] {
    require(flags != nullptr && location != nullptr, cudaErrorInvalidValue,
            "flags or location is null");
    if (location->type == 2) {  // cudaMemLocationTypeHost
      *flags = cudaMemAccessFlagsProtNone;
      return;
    }
    require_device_location(*location);
    const bool may = get(pool)->device == location->id ||
                     peers().may_access_pool(number_of(pool), location->id);
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  });
}

// ---- Allocating ------------------------------------------------------------

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return about_pools([&] { allocate_async(pointer, bytes, {}, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes,
                                    cudaMemPool_t pool, cudaStream_t stream) {
  return about_pools([&] { allocate_async(pointer, bytes, pool, stream); });
}

}  // extern "C"
