// Allocates and frees memory of devices, and pins memory of the host.
#include <map>
#include <mutex>

#include "common/simt/core/device.h"
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/happens_before.h"
#include "common/simt/runtime/ranges.h"

namespace simt {
namespace {

// What cudaHostAlloc and cudaHostRegister were asked for, if it was anything,
// by the numbers of the allocations.
struct HostFlags {
  std::mutex mutex;
  std::map<uint64_t, unsigned> of;
};

HostFlags& host_flags() {
  static auto* all = new HostFlags;
  return *all;
}

void keep_host_flags(const void* pointer, unsigned flags) {
  const auto found = allocations().find(address_of(pointer));
  if (!found || flags == 0) return;
  const std::lock_guard lock(host_flags().mutex);
  host_flags().of[found->number] = flags;
}

// A row of so many bytes begins where those after it can, too.
size_t pitch_of(size_t width) {
  constexpr size_t kAlignment = 512;
  const size_t units = width / kAlignment + (width % kAlignment != 0);
  return product_of(units, kAlignment);
}

// `waits`: for all that its device has to do, which may still use it.
void free(void* pointer, bool pinned, bool waits) {
  if (pointer == nullptr) return;
  const uint64_t address = address_of(pointer);
  const auto found = allocations().find(address);
  if (waits && found) await_device(found->device);
  if (found) note_freed(found->begin, found->end);
  const bool ours = found && !found->freed && found->begin == address &&
                    !found->is_variable() && found->memory != Memory::kHeap &&
                    (found->memory == Memory::kPinned) == pinned &&
                    allocations().release(address);
  require(ours, cudaErrorInvalidValue, pointer, " is not what ",
          pinned ? "cudaMallocHost" : "cudaMalloc", " returned, but ",
          allocations().describe(address));
  if (found->kept) note_graph_memory_freed(*found);
  if (found->pool) note_returned(found->pool, found->bytes());
}

}  // namespace

void free_in_stream(void* pointer) {
  if (const auto found = allocations().find(address_of(pointer)))
    note_touched(pointer, found->end - address_of(pointer), Use::kStore, {},
                 "frees");
  free(pointer, false, false);
}

void begin_allocation(void** pointer, size_t bytes) {
  require_result(pointer);
  *pointer = nullptr;  // also where it fails
  if (bytes != 0) require_safe();
}

void* allocate(size_t bytes, Memory memory, const char* name) {
  return allocate(bytes, memory, name, current_device(), 0);
}

void* allocate(size_t bytes, Memory memory, const char* name, int device,
               uint64_t pool) {
  if (bytes == 0) return nullptr;
  const uint64_t address =
      allocations().allocate(bytes, memory, name, device, pool);
  require(address != 0, cudaErrorMemoryAllocation, bytes,
          " bytes do not fit the memory of ", model_device().name,
          device ? text(", device ", device) : "", ": ",
          allocations().device_bytes_in_use(device), " of ",
          allocations().device_bytes(), " are in use");
  if (memory != Memory::kPool) order_device(device);
  return reinterpret_cast<void*>(address);
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return answer([&] {
    begin_allocation(pointer, bytes);
    *pointer = allocate(bytes, Memory::kDevice, "cudaMalloc");
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                            size_t height) {
  return answer([&] {
    require_result(pitch);
    *pitch = height == 0 ? 0 : pitch_of(width);
    const size_t bytes = product_of(*pitch, height);
    begin_allocation(pointer, bytes);
    *pointer = allocate(bytes, Memory::kDevice, "cudaMallocPitch");
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return answer([&] {
    require_result(pitched);
    const bool empty = extent.height == 0 || extent.depth == 0;
    pitched->pitch = empty ? 0 : pitch_of(extent.width);
    const size_t slice = product_of(pitched->pitch, extent.height);
    const size_t bytes = product_of(slice, extent.depth);
    begin_allocation(&pitched->ptr, bytes);
    pitched->ptr = allocate(bytes, Memory::kDevice, "cudaMalloc3D");
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
  });
}

cudaError_t cudaFree(void* pointer) {
  return answer([&] {
    require_safe();
    simt::free(pointer, false, true);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return answer([&] {
    require_usable(stream);
    if (pointer == nullptr) return;
    if (is_capturing(stream)) return issue(stream, release_work(pointer));
    require_safe();
    const auto found = allocations().find(address_of(pointer));
    require(!found || found->freed || !found->is_managed(),
            cudaErrorNotSupported, "managed memory is freed by cudaFree alone");
    const Queue queue = queue_of(stream);
    const auto operation = begin_operation(queue, {"cudaFreeAsync"});
    perform(queue, as_operation(operation, [=] { free_in_stream(pointer); }));
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return answer([&] {
    begin_allocation(pointer, bytes);
    *pointer = allocate(bytes, Memory::kPinned, "cudaMallocHost");
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return answer([&] {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped |
                               cudaHostAllocWriteCombined;
    begin_allocation(pointer, bytes);
    require(bytes == 0 || (flags & ~known) == 0, cudaErrorInvalidValue,
            "unknown flags ", flags);
    *pointer = allocate(bytes, Memory::kPinned, "cudaHostAlloc");
    keep_host_flags(*pointer, flags);
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return answer([&] {
    require_result(flags);
    const auto found = allocations().find(address_of(pointer));
    require(found && !found->freed && !found->is_device_only(),
            cudaErrorInvalidValue, pointer, " is not pinned, but ",
            allocations().describe(address_of(pointer)));
    const std::lock_guard lock(host_flags().mutex);
    const auto asked = host_flags().of.find(found->number);
    *flags = cudaHostAllocMapped;  // All of it is.
    if (asked != host_flags().of.end()) *flags |= asked->second;
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return answer([&] {
    require_safe();
    simt::free(pointer, true, true);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer([&] {
    require_safe();
    constexpr unsigned known = cudaHostRegisterPortable |
                               cudaHostRegisterMapped |
                               cudaHostRegisterReadOnly;
    require((flags & cudaHostRegisterIoMemory) == 0, cudaErrorInvalidValue,
            "it is no memory of another device");
    require((flags & ~known) == 0, cudaErrorInvalidValue, "unknown flags ",
            flags);
    require(pointer != nullptr && bytes != 0, cudaErrorInvalidValue,
            "nothing to register");
    require(!allocations().in_arena(address_of(pointer)), cudaErrorInvalidValue,
            "this is ", allocations().describe(address_of(pointer)));
    require(allocations().is_host_memory(address_of(pointer), bytes),
            cudaErrorInvalidValue, bytes, " bytes at ", pointer,
            " are not all memory of the host program");
    require(allocations().adopt(address_of(pointer), bytes, "cudaHostRegister",
                                current_device()),
            cudaErrorHostMemoryAlreadyRegistered,
            "part of the range is registered already");
    keep_host_flags(pointer, flags & cudaHostRegisterPortable);
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return answer([&] {
    require_safe();
    const auto found = allocations().find(address_of(pointer));
    require(allocations().disown(address_of(pointer)),
            found || pointer == nullptr ? cudaErrorInvalidValue
                                        : cudaErrorHostMemoryNotRegistered,
            pointer, " is not the beginning of a registered range");
  });
}

// The device sees host memory at the host's own address.
cudaError_t cudaHostGetDevicePointer(void** device, void* host,
                                     unsigned flags) {
  return answer([&] {
    require_result(device);
    require(flags == 0, cudaErrorInvalidValue, "flags are ", flags, ", not 0");
    const auto found = allocations().find(address_of(host));
    require(found && !found->freed && !found->is_device_only() &&
                !found->is_managed(),
            cudaErrorInvalidValue, host, " is not pinned host memory, but ",
            allocations().describe(address_of(host)));
    *device = host;
  });
}

}  // extern "C"
