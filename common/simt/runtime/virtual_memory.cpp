// The driver API: virtual memory. Addresses are reserved, memory is made, and
// the one is mapped to the other.
#include <algorithm>

#include "common/simt/memory/allocations.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

constexpr size_t kGranularity = 2 << 20;  // an H100's

struct Physical {
  uint64_t begin = 0;
  size_t bytes = 0;
  int device = 0;
  bool mapped = false, released = false;
};

struct Mapping {
  Physical* shown;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct Reservation {
  size_t bytes = 0;
  std::map<CUdeviceptr, Mapping> mappings;  // by where they begin
};

// A handle is the address of a Physical.
struct VirtualMemory {
  std::mutex mutex;
  std::map<CUmemGenericAllocationHandle, Physical> physical;
  std::map<CUdeviceptr, Reservation> reserved;  // by where they begin
};
VirtualMemory& virtual_memory() {
  static auto* all = new VirtualMemory;
  return *all;
}

void require_units(size_t bytes, const char* what) {
  demand(bytes != 0 && bytes % kGranularity == 0, CUDA_ERROR_INVALID_VALUE,
         what, " = ", bytes, " is no multiple of ", kGranularity,
         ", the granularity");
}

void require_kind(const CUmemAllocationProp* given) {
  demand(given != nullptr && given->type == CU_MEM_ALLOCATION_TYPE_PINNED,
         CUDA_ERROR_INVALID_VALUE, "prop is null, or of an unknown type");
  if (given->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    throw Lacking{"virtual memory of the host's"};
  if (given->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    throw Lacking{"memory that processes share"};
  require_device(given->location.id);
}

Physical& physical_behind(CUmemGenericAllocationHandle handle) {
  auto& all = virtual_memory().physical;
  const auto found = all.find(handle);
  demand(found != all.end() && !found->second.released,
         CUDA_ERROR_INVALID_VALUE, handle,
         " is no memory from cuMemCreate, or was released");
  return found->second;
}

// Its memory stays for as long as it is mapped.
void free_unused(Physical& physical) {
  if (physical.mapped || !physical.released) return;
  allocations().release(physical.begin);
  virtual_memory().physical.erase(physical.begin);
}

// The reservation around all of that.
std::pair<const CUdeviceptr, Reservation>& reservation_around(CUdeviceptr at,
                                                              size_t bytes) {
  auto& all = virtual_memory().reserved;
  auto found = all.upper_bound(at);
  const bool none = found == all.begin();
  if (!none) --found;
  demand(!none && at - found->first < found->second.bytes &&
             bytes <= found->second.bytes - (at - found->first),
         CUDA_ERROR_INVALID_VALUE, bytes, " bytes at ", pointer(at),
         " are not all reserved");
  return *found;
}

using Mappings = std::map<CUdeviceptr, Mapping>;

// Those in a range, which may cut none: the first, and one past the last.
std::pair<Mappings::iterator, Mappings::iterator> mappings_in(Mappings& all,
                                                              CUdeviceptr at,
                                                              size_t bytes) {
  const auto ends_by = [&](Mappings::iterator next, CUdeviceptr end) {
    return next == all.begin() ||
           std::prev(next)->first + std::prev(next)->second.shown->bytes <= end;
  };
  const auto first = all.lower_bound(at), last = all.lower_bound(at + bytes);
  demand(ends_by(first, at) && ends_by(last, at + bytes),
         CUDA_ERROR_INVALID_VALUE, bytes, " bytes at ", pointer(at),
         " are no whole mappings");
  return {first, last};
}

// What may be touched is an array wherever it hangs together.
void tell_allocations(CUdeviceptr begin, const Reservation& reservation) {
  std::vector<Allocation> parts;
  for (const auto& [at, mapping] : reservation.mappings) {
    if (mapping.access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
    const Physical& shown = *mapping.shown;
    const bool read_only = mapping.access == CU_MEM_ACCESS_FLAGS_PROT_READ;
    if (!parts.empty() && parts.back().end == at &&
        parts.back().read_only == read_only &&
        parts.back().device == shown.device)
      parts.back().end += shown.bytes;
    else
      parts.push_back({.begin = at,
                       .end = at + shown.bytes,
                       .read_only = read_only,
                       .device = shown.device,
                       .name = "cuMemMap"});
  }
  allocations().set_mapped(begin, begin + reservation.bytes, parts);
}

void map(CUdeviceptr at, size_t bytes, Physical& physical) {
  Mappings& all = reservation_around(at, bytes).second.mappings;
  demand(bytes == physical.bytes, CUDA_ERROR_NOT_SUPPORTED, "size = ", bytes,
         ", and the memory has ", physical.bytes, " bytes");
  const auto [first, last] = mappings_in(all, at, bytes);
  demand(first == last, CUDA_ERROR_INVALID_VALUE, "something is mapped there");
  if (physical.mapped) throw Lacking{"memory that is mapped twice at a time"};
  if (!allocations().show(at, physical.begin, bytes))
    throw Lacking{"virtual memory where files are kept small"};
  allocations().note_copied(at, physical.begin, bytes);
  physical.mapped = true;
  all[at] = {&physical};
}

void unmap(CUdeviceptr at, size_t bytes) {
  auto& [begin, reservation] = reservation_around(at, bytes);
  const auto [first, last] = mappings_in(reservation.mappings, at, bytes);
  for (auto one = first; one != last; ++one) {
    Physical& shown = *one->second.shown;
    await_device(shown.device);
    allocations().note_copied(shown.begin, one->first, shown.bytes);
    allocations().show(one->first, one->first, shown.bytes);
    shown.mapped = false;
    free_unused(shown);
  }
  reservation.mappings.erase(first, last);
  tell_allocations(begin, reservation);
}

void set_access(CUdeviceptr at, size_t bytes, const CUmemAccessDesc& wanted) {
  auto& [begin, reservation] = reservation_around(at, bytes);
  const auto [first, last] = mappings_in(reservation.mappings, at, bytes);
  size_t mapped = 0;
  for (auto one = first; one != last; ++one) mapped += one->second.shown->bytes;
  demand(mapped == bytes, CUDA_ERROR_INVALID_VALUE, mapped, " of ", bytes,
         " bytes at ", pointer(at), " are mapped");
  for (auto one = first; one != last; ++one) {
    if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        wanted.location.id != one->second.shown->device)
      throw Lacking{"access to mapped memory by others than its device"};
    one->second.access = wanted.flags;
  }
  tell_allocations(begin, reservation);
}

// All calls have one lock: they are few.
CUresult drive_virtual(Body body, const char* call = __builtin_FUNCTION()) {
  return drive(
      Needs::kDriver,
      [&] {
        const std::lock_guard lock(virtual_memory().mutex);
        body();
      },
      call);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* bytes,
                                       const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return drive_virtual([&] {
    demand(bytes != nullptr, CUDA_ERROR_INVALID_VALUE, "granularity is null");
    require_kind(properties);
    *bytes = kGranularity;
  });
}

// The wish for an address is only a wish.
CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes,
                             size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return drive_virtual([&] {
    demand(address != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
           "ptr is null, or flags are not 0");
    require_units(bytes, "size");
    demand(alignment <= kGranularity, CUDA_ERROR_INVALID_VALUE,
           "an alignment of ", alignment, "; at most ", kGranularity);
    *address = allocations().reserve(bytes, kGranularity);
    demand(*address != 0, CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
    virtual_memory().reserved[*address] = {bytes, {}};
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return drive_virtual([&] {
    const auto& [begin, reservation] = reservation_around(address, bytes);
    demand(begin == address && reservation.bytes == bytes &&
               reservation.mappings.empty(),
           CUDA_ERROR_INVALID_VALUE,
           "this is not all that was reserved, or something is mapped there");
    allocations().unreserve(address, bytes, kGranularity);
    virtual_memory().reserved.erase(address);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return drive_virtual([&] {
    demand(handle != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE,
           "handle is null, or flags are not 0");
    require_kind(properties);
    require_units(bytes, "size");
    const int device = properties->location.id;
    const uint64_t begin = reinterpret_cast<uint64_t>(
        allocate(bytes, Memory::kPhysical, "cuMemCreate", device, 0));
    virtual_memory().physical[begin] = {begin, bytes, device};
    *handle = begin;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return drive_virtual([&] {
    Physical& physical = physical_behind(handle);
    physical.released = true;
    free_unused(physical);
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return drive_virtual([&] {
    demand(offset == 0 && flags == 0, CUDA_ERROR_INVALID_VALUE,
           "offset and flags must be 0");
    require_units(bytes, "size");
    demand(address % kGranularity == 0, CUDA_ERROR_INVALID_VALUE,
           "ptr is no multiple of ", kGranularity);
    map(address, bytes, physical_behind(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return drive_virtual([&] { unmap(address, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                        const CUmemAccessDesc* wanted, size_t count) {
  return drive_virtual([&] {
    demand(wanted != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE,
           "desc is null, or there are none");
    for (size_t k = 0; k < count; ++k) set_access(address, bytes, wanted[k]);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags,
                        const CUmemLocation* location, CUdeviceptr address) {
  return drive_virtual([&] {
    demand(flags && location, CUDA_ERROR_INVALID_VALUE,
           "flags or location is null");
    auto& all = reservation_around(address, 1).second.mappings;
    auto found = all.upper_bound(address);
    demand(found != all.begin() && address - std::prev(found)->first <
                                       std::prev(found)->second.shown->bytes,
           CUDA_ERROR_INVALID_VALUE, "nothing is mapped there");
    --found;
    const bool its_own = location->id == found->second.shown->device;
    *flags = its_own ? found->second.access : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

}  // extern "C"
